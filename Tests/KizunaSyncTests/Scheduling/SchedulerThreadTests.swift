import Foundation
import KizunaCore
import KizunaSync
import Synchronization
import Testing

/// Real threads: every setting and method from everywhere at once (docs/spec/scheduling.md, Threads;
/// docs/spec/scheduling.md, Numbered behaviors: 26).
@Suite struct SchedulerThreadTests {
    @Test(.timeLimit(.minutes(2))) func fourHundredWritesAndWakesAtOnceEndAsAssigned() async {
        let client = FakeSchedulerClient()
        var ports = SchedulerRunner.Ports(client: client)
        let path = FakePathMonitor()
        ports.pathMonitor = path
        ports.realtime = FakeRealtime()
        ports.topics = ["kizunasync:todos"]
        ports.needsReset = { true }
        let scheduler = KizunaSyncScheduler(
            ports: ports,
            assigned: SchedulerAssignments(pollInterval: 0.002, monitorPath: false, refreshSession: .plain { true }),
            environment: .live())
        let active = Mutex((now: 0, most: 0))
        scheduler.onHealth { _ in
            active.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            active.withLock { $0.now -= 1 }
        }
        scheduler.start()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<400 {
                group.addTask {
                    switch index % 10 {
                    case 0: scheduler.pollInterval = 0.001 + Double(index) / 1000
                    case 1: scheduler.refreshSession = { index % 3 != 0 }
                    case 2: scheduler.sync = { @Sendable in await Task.yield() }
                    case 3: scheduler.onError = { _ in }
                    case 4: scheduler.monitorPath = index % 20 == 4
                    case 5: path.report(index % 20 != 5)
                    case 6: client.tell(depth: index)
                    case 7: scheduler.runDeadline = .seconds(index)
                    case 8: index % 40 == 8 ? scheduler.stop() : scheduler.start()
                    default: scheduler.wake(reason: .foreground)
                    }
                    _ = scheduler.health()
                }
            }
        }
        scheduler.stop()
        scheduler.monitorPath = false
        scheduler.pollInterval = 42
        scheduler.runDeadline = .seconds(77)
        scheduler.sync = nil
        scheduler.refreshSession = { true }
        #expect(await scheduler.run())
        #expect(scheduler.pollInterval == 42)
        #expect(scheduler.runDeadline == .seconds(77))
        #expect(scheduler.monitorPath == false)
        #expect(scheduler.health().nextAttemptAt == nil)
        #expect(scheduler.health().needsReset)
        #expect(client.mostActive == 1)
        #expect(active.withLock { $0.most } == 1)
    }

    @Test(.timeLimit(.minutes(1))) func theLoopPollsInRealTimeWithoutAMainRunLoop() async {
        let client = FakeSchedulerClient()
        let (runs, continuation) = AsyncStream.makeStream(of: Void.self)
        client.onSync = { continuation.yield() }
        let scheduler = KizunaSyncScheduler(
            ports: SchedulerRunner.Ports(client: client),
            assigned: SchedulerAssignments(pollInterval: 0.02, monitorPath: true, refreshSession: .plain { true }),
            environment: .live())
        scheduler.start()
        var seen = 0
        for await _ in runs {
            seen += 1
            if seen == 5 { break }
        }
        scheduler.stop()
        #expect(seen == 5)
    }
}
