#if os(watchOS) || (KIZUNA_CHECKS_WATCH && canImport(WatchKit))
    package import Foundation
    internal import WatchKit

    /// What this platform posts when the app comes to the front.
    package enum PlatformForeground {
        package static var activation: Notification.Name? { WKApplication.didBecomeActiveNotification }
    }
#endif
