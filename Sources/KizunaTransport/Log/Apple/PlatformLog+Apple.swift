#if canImport(os)
    package import KizunaCore
    internal import os

    /// The system's log.
    package enum PlatformLog {
        package static func sink(subsystem: String) -> any LogSink { UnifiedLog(subsystem: subsystem) }
    }

    private struct UnifiedLog: LogSink {
        private let logger: Logger

        init(subsystem: String) { logger = Logger(subsystem: subsystem, category: "KizunaSync") }

        func log(_ line: LogLine) {
            let text = line.description
            // Public: a line contains no value, token or header.
            logger.log(level: line.severity.level, "\(text, privacy: .public)")
        }
    }

    extension LogLine.Severity {
        fileprivate var level: OSLogType {
            switch self {
            case .debug: .debug
            case .info: .info
            case .warning: .default
            case .error: .error
            }
        }
    }
#endif
