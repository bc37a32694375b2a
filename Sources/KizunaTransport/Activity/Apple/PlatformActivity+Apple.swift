#if canImport(Darwin) && !os(macOS)
    internal import Darwin
    internal import Dispatch
    internal import Foundation

    /// Assertions against suspension by the system.
    package enum PlatformActivity {
        /// Prevents suspension until the returned closure is called. Has no effect if the system grants no more time.
        package static func begin() -> @Sendable () -> Void {
            let ended = DispatchSemaphore(value: 0)
            ProcessInfo.processInfo.performExpiringActivity(withReason: "A transaction of the store") { isExpiring in
                // The activity lasts until this closure returns.
                if !isExpiring { ended.wait() }
            }
            return { ended.signal() }
        }
    }
#endif
