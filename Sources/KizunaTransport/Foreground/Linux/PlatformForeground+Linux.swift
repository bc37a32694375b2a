#if !canImport(UIKit) && !canImport(AppKit) && !canImport(WatchKit)
    package import Foundation

    /// What this platform posts when the app comes to the front: nothing, there is no such thing.
    package enum PlatformForeground {
        package static var activation: Notification.Name? { nil }
    }
#endif
