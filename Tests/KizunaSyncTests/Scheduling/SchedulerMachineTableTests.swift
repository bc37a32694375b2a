import Foundation
import KizunaCore
import KizunaSync
import Testing

/// Every state of the machine meets every event; what follows is compared with the reviewed table in `Tests/SpecCases`, in
/// which a cell that is not named does nothing.
@Suite struct SchedulerMachineTableTests {
    typealias Event = SchedulerMachine.Event

    private static let states: [(name: String, make: @Sendable () -> SchedulerWorld)] = [
        ("stopped", { SchedulerWorld() }),
        ("stopped, run out", { SchedulerWorld.with { $0.tell(.woken(.doorbell)) } }),
        ("offline", { SchedulerWorld.started { _ in } }),
        ("idle", { SchedulerWorld.idle { _ in } }),
        ("refreshing", { SchedulerWorld.idle { $0.tell(.woken(.doorbell)) } }),
        ("syncing", { SchedulerWorld.syncing { _ in } }),
        ("syncing, follow-up", { SchedulerWorld.syncing { $0.tell(.woken(.doorbell)) } }),
        ("stalled", { SchedulerWorld.syncing { $0.pass(.seconds(25)) } }),
        ("overdue", { SchedulerWorld.syncing { $0.pass(.seconds(130)) } }),
        (
            "checking",
            { SchedulerWorld.syncing { world in world.tell(.synced(attempt: world.lastAttempt, nil)) } }
        ),
        (
            "backoff",
            {
                SchedulerWorld.syncing { world in
                    world.finishRun(SchedulerWorld.failure)
                }
            }
        ),
        (
            "holding",
            {
                SchedulerWorld.syncing { world in
                    world.finishRun(SchedulerWorld.failure)
                    world.tell(.woken(.localWrite))
                }
            }
        ),
        (
            "signed out",
            {
                SchedulerWorld.idle { world in
                    world.tell(.woken(.doorbell))
                    world.tell(.sessionRefreshed(attempt: world.lastAttempt, .signedOut))
                    world.finishRun()
                }
            }
        ),
    ]

    private static let events: [(name: String, make: @Sendable (SchedulerWorld) -> Event)] = [
        ("started", { _ in .started }), ("stopped", { _ in .stopped }),
        ("woken poll", { _ in .woken(.poll) }), ("woken doorbell", { _ in .woken(.doorbell) }),
        ("woken localWrite", { _ in .woken(.localWrite) }), ("woken path", { _ in .woken(.path) }),
        ("woken foreground", { _ in .woken(.foreground) }), ("woken start", { _ in .woken(.start) }),
        ("woken session", { _ in .woken(.session) }),
        ("runAwaited", { _ in .runAwaited(waiter: 1) }), ("runCalledOff", { _ in .runCalledOff }),
        ("pollIntervalSet", { _ in .pollIntervalSet(.seconds(20)) }),
        ("pollIntervalSet zero", { _ in .pollIntervalSet(.zero) }),
        ("refreshReplaced", { _ in .refreshReplaced }),
        ("monitorPathSet true", { _ in .monitorPathSet(true) }),
        ("monitorPathSet false", { _ in .monitorPathSet(false) }),
        ("limitsSet", { _ in .limitsSet(runDeadline: .seconds(5), stallAfter: nil) }),
        ("first timer", { world in .timerFired(timer: world.timersInOrder.first ?? 0) }),
        ("second timer", { world in .timerFired(timer: world.timersInOrder.dropFirst().first ?? 0) }),
        ("third timer", { world in .timerFired(timer: world.timersInOrder.dropFirst(2).first ?? 0) }),
        ("stale timer", { _ in .timerFired(timer: 1_000) }), ("stale jitter", { _ in .jitterDrawn(arm: 1_000, 0) }),
        ("path good", { world in .pathReported(source: world.pathSource ?? 0, isSatisfied: true) }),
        ("path bad", { world in .pathReported(source: world.pathSource ?? 0, isSatisfied: false) }),
        ("stale path", { _ in .pathReported(source: 1_000, isSatisfied: false) }),
        ("forced good", { _ in .pathForced(isSatisfied: true) }),
        ("forced bad", { _ in .pathForced(isSatisfied: false) }),
        ("foregrounded", { world in .foregrounded(source: world.foregroundSource ?? 0) }),
        ("stale foreground", { _ in .foregrounded(source: 1_000) }),
        ("doorbell", { world in .doorbellRang(source: world.realtimeSource ?? 0) }),
        ("stale doorbell", { _ in .doorbellRang(source: 1_000) }),
        ("subscribed", { world in .subscribed(source: world.lastSource) }),
        ("stale subscribed", { _ in .subscribed(source: 1_000) }),
        ("refused", { world in .subscriptionRejected(source: world.lastSource, SchedulerWorld.failure) }),
        ("depth 3", { world in .queueDepthChanged(source: world.lastSource, 3) }),
        ("depth 0", { world in .queueDepthChanged(source: world.lastSource, 0) }),
        ("stale depth", { _ in .queueDepthChanged(source: 1_000, 3) }),
        ("depth read", { world in .queueDepthRead(source: world.lastSource, 3) }),
        ("engineReplaced", { world in .engineReplaced(source: world.lastSource) }),
        ("stale engineReplaced", { _ in .engineReplaced(source: 1_000) }),
        ("client closed", { world in .clientClosed(source: world.lastSource) }),
        ("stale client closed", { _ in .clientClosed(source: 1_000) }),
        ("session ready", { world in .sessionRefreshed(attempt: world.lastAttempt, .ready) }),
        ("session refused", { world in .sessionRefreshed(attempt: world.lastAttempt, .rejected) }),
        ("session signedOut", { world in .sessionRefreshed(attempt: world.lastAttempt, .signedOut) }),
        (
            "session failed",
            { world in .sessionRefreshed(attempt: world.lastAttempt, .failed(SchedulerWorld.failure)) }
        ),
        ("stale session", { _ in .sessionRefreshed(attempt: 1_000, .ready) }),
        ("synced", { world in .synced(attempt: world.lastAttempt, nil) }),
        ("sync failed", { world in .synced(attempt: world.lastAttempt, SchedulerWorld.failure) }),
        ("stale synced", { _ in .synced(attempt: 1_000, nil) }),
        ("reset read", { world in .resetRead(attempt: world.lastAttempt, true) }),
        ("stale reset read", { _ in .resetRead(attempt: 1_000, true) }),
    ]

    @Test func everyStateResponsesEveryEventAsTheTableSays() throws {
        var cells: [String] = []
        for state in Self.states {
            for event in Self.events {
                var world = state.make()
                world.jitter = nil
                let before = world.machine.reading
                let effects = world.tell(event.make(world))
                let after = world.machine.reading
                guard !effects.isEmpty || before != after else { continue }
                let phase = before.phase == after.phase ? "" : " → \(after.phase)"
                let streak =
                    before.consecutiveFailures == after.consecutiveFailures
                    ? "" : ", streak \(after.consecutiveFailures)"
                cells.append(
                    "\(state.name) | \(event.name): \(effects.map(Self.name).joined(separator: " "))\(phase)\(streak)")
            }
        }
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../SpecCases/scheduler-machine-table.txt")
        let table = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        let missing = table.filter { !cells.contains($0) }
        let unexpected = cells.filter { !table.contains($0) }
        #expect(missing == [])
        #expect(unexpected.isEmpty, "\n\(unexpected.joined(separator: "\n"))")
    }

    private static func name(_ effect: SchedulerMachine.Effect) -> String {
        switch effect {
        case .startTimer(_, let delay): "timer(\(delay.seconds))"
        case .cancelTimer: "cancelTimer"
        case .drawJitter: "arm"
        case .startPath: "startPath"
        case .cancelPath: "cancelPath"
        case .startForeground: "startForeground"
        case .stopForeground: "stopForeground"
        case .subscribeRealtime: "subscribeRealtime"
        case .cancelRealtime: "cancelRealtime"
        case .subscribe: "subscribe"
        case .unsubscribe: "unsubscribe"
        case .refreshSession: "refresh"
        case .sync: "sync"
        case .readReset: "readReset"
        case .cancelStep: "cancelStep"
        case .resolve(_, let didSucceed): "resolve(\(didSucceed))"
        case .report: "report"
        }
    }
}

extension SchedulerWorld {
    static func with(_ change: (inout SchedulerWorld) -> Void) -> SchedulerWorld {
        var world = SchedulerWorld()
        change(&world)
        return world
    }

    static func started(_ change: (inout SchedulerWorld) -> Void) -> SchedulerWorld {
        with { world in
            world.tell(.started)
            world.tell(.subscribed(source: world.lastSource))
            change(&world)
        }
    }

    static func idle(_ change: (inout SchedulerWorld) -> Void) -> SchedulerWorld {
        started { world in
            world.tell(.pathReported(source: world.pathSource ?? 0, isSatisfied: true))
            world.finishRun()
            change(&world)
        }
    }

    static func syncing(_ change: (inout SchedulerWorld) -> Void) -> SchedulerWorld {
        idle { world in
            world.tell(.woken(.doorbell))
            world.tell(.sessionRefreshed(attempt: world.lastAttempt, .ready))
            change(&world)
        }
    }

    var timersInOrder: [Int] { timers.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key) }
}
