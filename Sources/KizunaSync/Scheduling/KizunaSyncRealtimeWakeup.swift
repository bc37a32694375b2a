/// The port to the doorbell: the app's own Supabase Realtime channel.
///
/// What arrives is a hint that a table changed, no more. A dropped socket delays a pull and loses nothing, since the
/// scheduler goes on polling.
///
/// See docs/spec/scheduling.md, Realtime.
public protocol KizunaSyncRealtimeWakeup: Sendable {
    /// Subscribes to the topics, `kizunasync:<table>` for each configured table in order; called once per start with
    /// all of them.
    ///
    /// - Parameters:
    ///   - topics: the topics, never empty.
    ///   - onWake: called from any thread on each message of any topic.
    /// - Returns: What ends the subscription.
    func subscribe(topics: [String], onWake: @escaping @Sendable () -> Void) -> any KizunaSyncRealtimeSubscription
}

/// A subscription of the app's Realtime channel that the scheduler can end.
public protocol KizunaSyncRealtimeSubscription: Sendable {
    /// Ends the subscription. Calling it again does nothing.
    func cancel()
}
