/// Where log lines go. Lines hold tables, operations, states, codes and durations; never values, URLs with queries,
/// headers or tokens (docs/spec/owners.md, Secrets).
public protocol LogSink: Sendable {
    /// Takes one line. Called from any thread; it must not call back into the client.
    func log(_ line: LogLine)
}

/// One log line: a constant message, and data as key and value.
public struct LogLine: Sendable {
    /// How much the line matters.
    public enum Severity: String, Sendable, CaseIterable {
        /// One line a request.
        case debug
        /// A change of state that a user could see.
        case info
        /// Something was set aside and waits for a decision.
        case warning
        /// Data is at risk.
        case error
    }

    /// How much the line matters.
    public let severity: Severity
    /// A constant sentence.
    public let message: String
    /// The data by key.
    public let metadata: [LogKey: String]

    /// Makes a line.
    public init(_ severity: Severity, _ message: StaticString, _ metadata: [LogKey: String] = [:]) {
        self.severity = severity
        self.message = "\(message)"
        self.metadata = metadata
    }
}

/// The name of one value in a log line. All names begin with `kizuna.`.
public enum LogKey: String, Sendable, CaseIterable {
    /// The code of a `SyncError`.
    case error = "kizuna.error"
    /// Whether everything in a damaged store could be read.
    case isWhole = "kizuna.whole"
    /// The number of mutations read from a damaged store.
    case savedMutations = "kizuna.saved"
    /// The name of a table.
    case table = "kizuna.table"
}

extension LogLine: CustomStringConvertible {
    /// The message, and the data in the order of its keys.
    public var description: String {
        metadata.sorted { $0.key.rawValue < $1.key.rawValue }.reduce(message) { "\($0) \($1.key.rawValue)=\($1.value)" }
    }
}

/// Takes every line and keeps none.
public struct SilentLogSink: LogSink {
    /// Makes a sink.
    public init() {}

    /// Drops the line.
    public func log(_ line: LogLine) {}
}
