#if canImport(UIKit) && !os(watchOS) && !KIZUNA_CHECKS_WATCH
    package import Foundation
    internal import UIKit

    /// What this platform posts when the app comes to the front.
    package enum PlatformForeground {
        package static var activation: Notification.Name? { UIApplication.didBecomeActiveNotification }
    }
#endif
