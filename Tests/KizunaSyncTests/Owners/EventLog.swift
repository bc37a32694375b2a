import KizunaSync
import Synchronization

/// Keeps each event of a client.
final class EventLog: Sendable {
    private let told: Told

    private final class Told: Sendable {
        let events = Mutex<[KizunaSyncEvent]>([])
    }

    let subscription: KizunaSyncEventSubscription

    init(_ client: KizunaSyncClient) async throws {
        let told = Told()
        self.told = told
        subscription = try await client.on { event in told.events.withLock { $0.append(event) } }
    }

    var events: [KizunaSyncEvent] { told.events.withLock { $0 } }
    /// The depths told, in order.
    var depths: [Int] {
        events.compactMap { event in
            if case .queueDepth(let depth) = event { depth } else { nil }
        }
    }
}
