public import KizunaCore
internal import Synchronization

/// Collects log lines for tests.
public final class CollectingLogSink: LogSink {
    private let collected = Mutex<[LogLine]>([])

    /// Creates an empty sink.
    public init() {}

    /// The lines so far, oldest first.
    public var lines: [LogLine] { collected.withLock { $0 } }

    /// Appends the line.
    public func log(_ line: LogLine) {
        collected.withLock { $0.append(line) }
    }
}
