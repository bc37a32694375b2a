/// The port by which processes that share a store tell each other that they have committed something.
///
/// It carries no content: whoever hears it looks into the store. Several tellings may be heard as one.
package protocol ChangeSignal: AnyObject, Sendable {
    /// Starts to listen. `heard` is called, on any thread, after another process has told something or has ended, and at
    /// once where there are others: what they told before is not heard.
    func start(heard: @escaping @Sendable () -> Void)
    /// Tells the other processes; does nothing where there are none. Call it after the commit.
    func tell()
    /// Stops to listen. Calling it again does nothing.
    func stop()
}
