internal import KizunaTransport

/// The platform's own knowledge of the network path: `NWPathMonitor` on Apple's systems, GIO's monitor on Linux.
///
/// The scheduler's default; it serves as `networkAvailability` of a client's configuration too. Each start makes a
/// monitor of its own, so one object serves one listener at a time.
///
/// See docs/spec/scheduling.md, Network path.
public final class KizunaSyncSystemPathMonitor: KizunaSyncPathMonitor {
    private let monitor = PlatformPathMonitor()

    /// Makes a monitor that reports nothing yet.
    public init() {}

    /// Starts reporting, from a thread of the system: the current state, then each change.
    public func start(onSatisfied: @escaping @Sendable (Bool) -> Void) { monitor.start(onSatisfied: onSatisfied) }

    /// Stops reporting. Calling it again does nothing.
    public func cancel() { monitor.cancel() }
}
