#if !canImport(os)
    internal import Foundation
    package import KizunaCore

    /// The standard error of the process; this platform has no system log.
    package enum PlatformLog {
        package static func sink(subsystem: String) -> any LogSink { ErrorOutput(subsystem: subsystem) }
    }

    private struct ErrorOutput: LogSink {
        let subsystem: String

        func log(_ line: LogLine) {
            // One write for each line, so that lines of several threads do not mix.
            FileHandle.standardError.write(Data("\(subsystem) \(line.severity.rawValue): \(line.description)\n".utf8))
        }
    }
#endif
