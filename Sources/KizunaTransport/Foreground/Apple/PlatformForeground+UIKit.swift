#if canImport(UIKit) && !os(watchOS) && !KIZUNA_CHECKS_WATCH
    package import Foundation
    internal import UIKit

    /// The notification that the platform posts when the app becomes active.
    package enum PlatformForeground {
        package static var activation: Notification.Name? { UIApplication.didBecomeActiveNotification }
    }
#endif
