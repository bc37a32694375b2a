#if canImport(AppKit) && !canImport(UIKit)
    internal import AppKit
    package import Foundation

    /// What this platform posts when the app comes to the front.
    package enum PlatformForeground {
        package static var activation: Notification.Name? { NSApplication.didBecomeActiveNotification }
    }
#endif
