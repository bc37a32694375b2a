/// The port to the app's return to the front.
///
/// A test, or an app with an activation signal of its own, conforms a class of its own; most apps need not, since the
/// scheduler installs `KizunaSyncNotificationForegroundSource` where the platform has one.
///
/// See docs/spec/scheduling.md, Foreground.
public protocol KizunaSyncForegroundSource: AnyObject, Sendable {
    /// Starts calling the handler, from any thread, each time the app comes to the front.
    func start(onForeground: @escaping @Sendable () -> Void)
    /// Stops reporting. Calling it again does nothing; it may be started again later.
    func stop()
}
