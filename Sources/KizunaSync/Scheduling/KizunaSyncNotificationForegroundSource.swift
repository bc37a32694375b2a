internal import Foundation
internal import KizunaTransport
internal import Synchronization

/// Reports each return of the app to the front, by the notification that the platform posts for it.
///
/// UIKit's and AppKit's `didBecomeActive`, on watchOS the watch app's. Linux has none, and nothing is reported there.
///
/// See docs/spec/scheduling.md, Foreground.
public final class KizunaSyncNotificationForegroundSource: KizunaSyncForegroundSource {
    private let name: Notification.Name?
    private let token = Mutex<ObserverToken?>(nil)

    /// Makes a source for the platform's own notification.
    public init() { name = PlatformForeground.activation }

    /// Makes a source for another notification.
    package init(name: String) { self.name = Notification.Name(name) }

    deinit { stop() }

    /// Starts calling the handler, from the thread that posts, on each notification.
    public func start(onForeground: @escaping @Sendable () -> Void) {
        guard let name else { return }
        replace(
            with: ObserverToken(
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in onForeground() }))
    }

    /// Stops reporting. Calling it again does nothing.
    public func stop() { replace(with: nil) }

    private func replace(with next: ObserverToken?) {
        let previous = token.withLock { token in
            defer { token = next }
            return token
        }
        if let previous { NotificationCenter.default.removeObserver(previous.object) }
    }
}

/// What a notification centre gives for an observer.
// Safe because it is only ever handed back to the centre, which may be called from any thread.
private final class ObserverToken: @unchecked Sendable {
    let object: any NSObjectProtocol

    init(_ object: any NSObjectProtocol) { self.object = object }
}
