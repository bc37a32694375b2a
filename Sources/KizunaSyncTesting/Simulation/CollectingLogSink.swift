public import KizunaCore
internal import Synchronization

/// Keeps every log line, for tests to look at.
public final class CollectingLogSink: LogSink {
    private let collected = Mutex<[LogLine]>([])

    /// Makes an empty sink.
    public init() {}

    /// The lines so far, oldest first.
    public var lines: [LogLine] { collected.withLock { $0 } }

    /// Keeps the line.
    public func log(_ line: LogLine) {
        collected.withLock { $0.append(line) }
    }
}
