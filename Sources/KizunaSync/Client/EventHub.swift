internal import KizunaCore
internal import Synchronization

/// Tells events to subscribers: to each in order, one at a time, never on the thread that holds a lock of the engine.
package final class EventHub: Sendable {
    private struct State {
        var subscribers: [Int: AsyncStream<KizunaSyncEvent>.Continuation] = [:]
        var last = 0
    }

    private let environment: SyncEnvironment
    private let state = Mutex(State())
    /// Events a slow subscriber may lag behind; the oldest are dropped then, and a later depth says the same anew.
    private static let bound = 1_024

    package init(environment: SyncEnvironment) { self.environment = environment }

    /// Tells a handler what happens; `onEnd` is called after the last event, unless the subscription was cancelled.
    package func subscribe(
        _ handler: @escaping @Sendable (KizunaSyncEvent) -> Void, onEnd: @escaping @Sendable () -> Void = {}
    ) -> KizunaSyncEventSubscription {
        let (events, input) = AsyncStream<KizunaSyncEvent>.makeStream(bufferingPolicy: .bufferingNewest(Self.bound))
        let id = state.withLock { state in
            state.last += 1
            state.subscribers[state.last] = input
            return state.last
        }
        let isCancelled = Flag()
        environment.spawn {
            // What waits when a subscription is cancelled is not told any more.
            for await event in events where !isCancelled.isSet { handler(event) }
            if !isCancelled.isSet { onEnd() }
        }
        return KizunaSyncEventSubscription { [weak self] in
            isCancelled.set()
            self?.state.withLock { $0.subscribers.removeValue(forKey: id) }?.finish()
        }
    }

    package func tell(_ event: KizunaSyncEvent) {
        // Under the lock, so that every subscriber gets the events in one order.
        state.withLock { state in
            for subscriber in state.subscribers.values { subscriber.yield(event) }
        }
    }

    /// Ends all subscriptions after a last event.
    package func end(_ event: KizunaSyncEvent?) {
        if let event { tell(event) }
        let subscribers = state.withLock { state in
            defer { state.subscribers = [:] }
            return state.subscribers
        }
        for subscriber in subscribers.values { subscriber.finish() }
    }
}

/// Something that is set once, for whoever looks at it from another thread.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}
