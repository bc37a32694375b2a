public import KizunaSync
internal import Synchronization

/// A foreground source that a test triggers.
public final class FakeForeground: KizunaSyncForegroundSource {
    private let handler = Mutex<(@Sendable () -> Void)?>(nil)

    /// Creates a source that is not started.
    public init() {}

    /// Whether a scheduler observes the source.
    public var isStarted: Bool { handler.withLock { $0 != nil } }

    /// Brings the app to the foreground.
    public func activate() { handler.withLock { $0 }?() }

    /// Starts reporting.
    public func start(onForeground: @escaping @Sendable () -> Void) { handler.withLock { $0 = onForeground } }

    /// Stops reporting.
    public func stop() { handler.withLock { $0 = nil } }
}
