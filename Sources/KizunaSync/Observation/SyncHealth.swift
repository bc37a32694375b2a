public import Observation

/// The health of a sync loop for a user interface: observable, on the main actor.
///
/// ```swift
/// let model = SyncHealth(syncScheduler)
/// // in a view's body
/// Text(model.health.phase == .offline ? "Offline" : "Up to date")
/// ```
///
/// It shows the newest health; in-between ones may be left out. It observes until it is let go of.
///
/// See docs/spec/scheduling.md, Health.
@MainActor @Observable
public final class SyncHealth {
    /// How the loop stands.
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
