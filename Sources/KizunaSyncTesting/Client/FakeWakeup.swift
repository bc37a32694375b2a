public import KizunaSync
internal import Synchronization

/// A Realtime wakeup (a doorbell) that a test rings.
public final class FakeWakeup: KizunaSyncRealtimeWakeup {
    private struct State {
        var last = 0
        var subscriptions: [Int: (topics: [String], onWake: @Sendable () -> Void)] = [:]
    }

    private struct Subscription: KizunaSyncRealtimeSubscription {
        let onCancel: @Sendable () -> Void
        func cancel() { onCancel() }
    }

    private let state = Mutex(State())

    /// Creates a wakeup without subscriptions.
    public init() {}

    /// The topics of the active subscriptions, in the order of subscribing.
    public var topics: [String] {
        state.withLock { $0.subscriptions.sorted { $0.key < $1.key }.flatMap(\.value.topics) }
    }

    /// Sends a message to the subscribers of a table, or to all subscribers.
    public func ring(table: String? = nil) {
        let topic = table.map { "kizunasync:" + $0 }
        let called = state.withLock { state in
            state.subscriptions.sorted { $0.key < $1.key }.map(\.value)
                .filter { subscription in topic.map(subscription.topics.contains) ?? true }
        }
        for each in called { each.onWake() }
    }

    /// Subscribes to the topics.
    public func subscribe(
        topics: [String], onWake: @escaping @Sendable () -> Void
    ) -> any KizunaSyncRealtimeSubscription {
        let id = state.withLock { state in
            state.last += 1
            state.subscriptions[state.last] = (topics, onWake)
            return state.last
        }
        return Subscription { [self] in state.withLock { $0.subscriptions[id] = nil } }
    }
}
