import Foundation
import KizunaSync

// The code of docs/scheduling.md, as an app would hold it.

private let kizunasync = KizunaSyncClient()
private let supabase = SupabaseStandIn()
private let configuration = KizunaSyncConfiguration(
    url: URL(fileURLWithPath: "/"), publishableKey: "key", dataDirectory: URL(fileURLWithPath: "/"))

private struct SupabaseStandIn {
    struct Session { var accessToken: String }
    struct Auth { var session: Session { get async throws { Session(accessToken: "") } } }
    var auth: Auth { Auth() }
}

private func show(_ text: String, at date: Date? = nil) {}
private func isSignedIn() async -> Bool { true }
private func broadcasts(of topics: [String], event: String) -> AsyncStream<Void> { AsyncStream { $0.finish() } }

let syncScheduler = KizunaSyncScheduler(
    client: kizunasync,
    refreshSession: {
        guard let session = try? await supabase.auth.session else { return false }
        try? await kizunasync.setAccessToken(session.accessToken)
        return true
    },
    onError: { failure in print("sync failed: \(failure)") },
    needsReset: { (try? await kizunasync.checkpoint().softBlocked) ?? false }
)

private enum SchedulingSamples {
    static func opening() {
        func openApp() async throws {
            try await kizunasync.create(configuration)
            syncScheduler.start()
        }

        func closeApp() async {
            syncScheduler.stop()
            await kizunasync.close()
        }

        func signedIn() { syncScheduler.notifySession() }
        func syncNow() { syncScheduler.wake() }
        func pullToRefresh() async { await syncScheduler.run() }  // returns when the run has ended

        syncScheduler.pollInterval = 60  // seconds; 0 polls never
    }

    static func leavingAlone() {
        struct TooBusy: KizunaSyncRetryAfter {
            let retryAfter: Duration?
        }
        _ = TooBusy(retryAfter: nil)
    }

    static func session() {
        let scheduler = KizunaSyncScheduler(
            client: kizunasync,
            refreshSession: {
                guard await isSignedIn() else { return .signedOut }  // not called again until a wake or notifySession()
                do {
                    let session = try await supabase.auth.session
                    try await kizunasync.setAccessToken(session.accessToken)
                    return .ready
                } catch {
                    return .failed(error)  // counts as a failed run
                }
            }
        )
        scheduler.stop()
    }

    final class BroadcastWakeup: KizunaSyncRealtimeWakeup {
        func subscribe(
            topics: [String], onWake: @escaping @Sendable () -> Void
        ) -> any KizunaSyncRealtimeSubscription {
            let task = Task {
                for await _ in broadcasts(of: topics, event: "changed") { onWake() }
            }
            return BroadcastSubscription(task: task)
        }
    }

    struct BroadcastSubscription: KizunaSyncRealtimeSubscription {
        let task: Task<Void, Never>

        func cancel() { task.cancel() }
    }

    static func doorbell() {
        let scheduler = KizunaSyncScheduler(
            client: kizunasync, realtime: BroadcastWakeup(), realtimeTables: ["todos"], refreshSession: { true })
        scheduler.stop()
    }

    static func ports() {
        func takeOver(_ scheduler: KizunaSyncScheduler) {
            scheduler.monitorPath = false
            scheduler.notifyOnline()
            scheduler.notifyForeground()
        }

        func didFinishLaunching() {
            syncScheduler.registerBackgroundRun("app.example.sync")
        }

        func didEnterBackground() {
            try? syncScheduler.requestBackgroundRun("app.example.sync")
        }
    }

    static func health() {
        let stopListening = syncScheduler.onHealth { health in
            switch health.phase {
            case .offline: show("Offline, \(health.queueDepth) writes wait")
            case .waitingForSession: show("Sign in to sync")
            case .backoff: show("Trying again", at: health.nextAttemptAt)
            case .stalled: show("Taking long", at: health.attemptStartedAt)
            case .syncing, .idle: show("In sync", at: health.lastSuccessAt)
            }
        }
        stopListening()
    }

    @MainActor func makeModel() -> SyncHealth { SyncHealth(syncScheduler) }
}
