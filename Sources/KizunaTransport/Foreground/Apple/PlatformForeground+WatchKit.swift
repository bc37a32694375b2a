#if os(watchOS) || (KIZUNA_CHECKS_WATCH && canImport(WatchKit))
    package import Foundation
    internal import WatchKit

    /// The notification that the platform posts when the app becomes active.
    package enum PlatformForeground {
        package static var activation: Notification.Name? { WKApplication.didBecomeActiveNotification }
    }
#endif
