#if !canImport(UIKit) && !canImport(AppKit) && !canImport(WatchKit)
    package import Foundation

    /// The notification of activation; this platform has none.
    package enum PlatformForeground {
        package static var activation: Notification.Name? { nil }
    }
#endif
