#if canImport(CSoup)
    internal import CSoup
    internal import Foundation

    /// The one thread on which GLib's sources, and so libsoup's sockets and callbacks, run. It lives as long as the
    /// process.
    ///
    /// A GLib object made on it is touched on it only.
    // Safe because the pointer never changes and GLib allows adding sources to a context from any thread.
    final class GLibLoop: @unchecked Sendable {
        static let shared = GLibLoop()

        private let context: OpaquePointer

        private init() {
            guard let context = g_main_context_new() else { preconditionFailure("GLibLoop: no main context") }
            self.context = context
            let thread = Thread { [self] in run() }
            thread.name = "kizuna.glib"
            thread.start()
        }

        /// Runs the work on the loop's thread, after what was handed over before.
        func perform(_ work: @escaping @Sendable () -> Void) {
            let source = g_idle_source_new()
            g_source_set_priority(source, G_PRIORITY_DEFAULT)
            g_source_set_callback(
                source,
                { pointer in
                    guard let pointer else { return 0 }
                    Unmanaged<Work>.fromOpaque(pointer).takeUnretainedValue().body()
                    return 0
                }, Unmanaged.passRetained(Work(work)).toOpaque(),
                { pointer in
                    guard let pointer else { return }
                    Unmanaged<Work>.fromOpaque(pointer).release()
                })
            g_source_attach(source, context)
            g_source_unref(source)
        }

        private func run() {
            g_main_context_push_thread_default(context)
            let loop = g_main_loop_new(context, 0)
            g_main_loop_run(loop)
        }
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
#endif
