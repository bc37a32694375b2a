public import Observation

/// The health of a scheduler as an observable object on the main actor, for a user interface.
///
/// ```swift
/// let model = SyncHealth(syncScheduler)
/// // in a view's body
/// Text(model.health.phase == .offline ? "Offline" : "Up to date")
/// ```
///
/// `health` is the newest value; intermediate values may be skipped. The object observes the scheduler until it is
/// deallocated.
///
/// See docs/spec/scheduling.md, Health.
@MainActor @Observable
public final class SyncHealth {
    /// The newest health of the scheduler.
    public private(set) var health: KizunaSyncHealth
    @ObservationIgnored private let unsubscribe: @Sendable () -> Void

    /// Starts observing a scheduler.
    public init(_ scheduler: KizunaSyncScheduler) {
        health = scheduler.health()
        let (newest, continuation) = AsyncStream.makeStream(
            of: KizunaSyncHealth.self, bufferingPolicy: .bufferingNewest(1))
        let stop = scheduler.onHealth { continuation.yield($0) }
        unsubscribe = {
            stop()
            continuation.finish()
        }
        scheduler.environment.spawn { [weak self] in
            for await health in newest { await self?.show(health) }
        }
    }

    deinit { unsubscribe() }

    private func show(_ next: KizunaSyncHealth) {
        if next != health { health = next }
    }
}
