#if canImport(CSoup)
    internal import CSoup
    internal import Foundation
    internal import Synchronization

    /// The single thread of GLib's sources, and thus of libsoup's sockets and callbacks. It runs as long as the
    /// process.
    ///
    /// A GLib object created on it is used on it only. Work passes through a lock of this package, since race detectors
    /// do not see GLib's locks.
    // Safe because the pointer is constant, GLib allows adding sources from any thread, and a lock guards the list of work.
    final class GLibLoop: @unchecked Sendable {
        static let shared = GLibLoop()

        let context: OpaquePointer
        private let pending = Mutex<[@Sendable () -> Void]>([])

        private init() {
            guard let context = g_main_context_new() else { preconditionFailure("GLibLoop: no main context") }
            self.context = context
            let thread = Thread { [self] in run() }
            thread.name = "kizuna.glib"
            thread.start()
        }

        /// Runs the work on the loop's thread, after all previous work.
        func perform(_ work: @escaping @Sendable () -> Void) {
            let isFirst = pending.withLock { pending in
                pending.append(work)
                return pending.count == 1
            }
            if isFirst { wake() }
        }

        /// Schedules one call of `performPending()` on the loop's thread.
        private func wake() {
            let source = g_idle_source_new()
            g_source_set_priority(source, G_PRIORITY_DEFAULT)
            g_source_set_callback(
                source,
                { pointer in
                    if let pointer { Unmanaged<GLibLoop>.fromOpaque(pointer).takeUnretainedValue().performPending() }
                    return 0
                }, Unmanaged.passUnretained(self).toOpaque(), nil)
            g_source_attach(source, context)
            g_source_unref(source)
        }

        private func performPending() {
            let work = pending.withLock { pending in
                defer { pending = [] }
                return pending
            }
            for each in work { each() }
        }

        private func run() {
            g_main_context_push_thread_default(context)
            let loop = g_main_loop_new(context, 0)
            g_main_loop_run(loop)
        }
    }
#endif
