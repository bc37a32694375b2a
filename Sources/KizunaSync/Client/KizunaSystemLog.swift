public import KizunaCore
internal import KizunaTransport

/// Writes log lines where the platform keeps them: the unified log on Apple platforms, with the category `KizunaSync`;
/// standard error elsewhere.
///
/// Lines hold tables, operations, states, codes and durations, never values, headers or tokens, so they are marked as
/// public in the unified log.
public struct KizunaSystemLog: LogSink {
    private let sink: any LogSink

    /// Makes a log.
    ///
    /// - Parameter subsystem: names the app, for example its bundle identifier.
    public init(subsystem: String) { sink = PlatformLog.sink(subsystem: subsystem) }

    /// Writes one line.
    public func log(_ line: LogLine) { sink.log(line) }
}
