#if canImport(Darwin) && !os(macOS)
    internal import Darwin
    internal import Dispatch
    internal import Foundation

    /// Time that the system gives a process before it suspends it.
    package enum PlatformActivity {
        /// Keeps the process from being suspended until what is returned is called. Where the system has no time left to
        /// give, nothing is kept.
        package static func begin() -> @Sendable () -> Void {
            let ended = DispatchSemaphore(value: 0)
            ProcessInfo.processInfo.performExpiringActivity(withReason: "A transaction of the store") { isExpiring in
                // The system takes the activity for going on while this does not return.
                if !isExpiring { ended.wait() }
            }
            return { ended.signal() }
        }
    }
#endif
