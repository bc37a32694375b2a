#if canImport(AppKit) && !canImport(UIKit)
    internal import AppKit
    package import Foundation

    /// The notification that the platform posts when the app becomes active.
    package enum PlatformForeground {
        package static var activation: Notification.Name? { NSApplication.didBecomeActiveNotification }
    }
#endif
