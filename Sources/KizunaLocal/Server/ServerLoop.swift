internal import CSoup
internal import Foundation

/// A GLib main loop on a thread of its own. Everything that touches libsoup happens on that thread.
///
/// Safe because GLib's contexts, loops and sources may be used from any thread, and the pointers
/// never change.
final class ServerLoop: @unchecked Sendable {
    private let context: OpaquePointer
    private let loop: OpaquePointer

    init() {
        context = g_main_context_new()
        loop = g_main_loop_new(context, 0)
    }

    deinit {
        g_main_loop_unref(loop)
        g_main_context_unref(context)
    }

    /// Starts the thread; `first` runs on it before anything else.
    func start(_ first: @escaping @Sendable () -> Void) {
        let thread = Thread { [self] in
            g_main_context_push_thread_default(context)
            run(first)
            g_main_loop_run(loop)
            g_main_context_pop_thread_default(context)
        }
        thread.name = "kizuna-http"
        thread.start()
    }

    /// Runs the body on the loop's thread, after what was handed in before.
    func run(_ body: @escaping @Sendable () -> Void) {
        attach(g_idle_source_new(), priority: G_PRIORITY_DEFAULT, body)
    }

    /// Runs the body on the loop's thread when the time has passed; nothing waits meanwhile.
    func run(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        let milliseconds = delay.components.seconds * 1000 + delay.components.attoseconds / 1_000_000_000_000_000
        attach(g_timeout_source_new(UInt32(clamping: milliseconds)), priority: G_PRIORITY_DEFAULT, body)
    }

    /// Ends the thread after what was handed in before.
    func stop() { run { [self] in g_main_loop_quit(loop) } }

    private func attach(
        _ source: UnsafeMutablePointer<GSource>?, priority: Int32, _ body: @escaping @Sendable () -> Void
    ) {
        let box = Unmanaged.passRetained(LoopBody(run: body))
        g_source_set_priority(source, priority)
        g_source_set_callback(
            source,
            { data in
                if let data { Unmanaged<LoopBody>.fromOpaque(data).takeUnretainedValue().run() }
                return 0
            }, box.toOpaque(),
            { data in
                if let data { Unmanaged<LoopBody>.fromOpaque(data).release() }
            })
        g_source_attach(source, context)
        g_source_unref(source)
    }
}

private final class LoopBody: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
}
