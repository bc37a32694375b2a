internal import KizunaPostgREST
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// The page's behaviour matrix, cell by cell: each test is named after its condition and strategy, and asserts every
/// emission with all of its fields.
@Suite struct LiveReadMatrixTests {
    // MARK: - Online

    @Test func onlineCacheFirstThenNetworkShowsTheCacheThenTheServer() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            await scene.simulation.advance(by: .seconds(1))
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(3600))
            #expect(watch.lines == ["[one, two] cache @0.05 refreshing", "[one, two] server @1.1 idle"])
            #expect(scene.readTimes == [0, 1.05])
        }
    }

    @Test func onlineColdCacheFirstThenNetworkShowsNilThenTheServer() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(3600))
            #expect(watch.lines == ["nil cache @never refreshing", "[one, two] server @0.05 idle"])
            #expect(scene.readTimes == [0])
        }
    }

    @Test(arguments: [true, false])
    func onlineNetworkFirstThenCacheShowsTheServerThenTheCacheAsItChanges(isWarm: Bool) throws {
        try ReadScene.run { scene in
            if isWarm { try await scene.warmUp() }
            await scene.simulation.advance(by: .seconds(1))
            let watch = scene.watch(scene.tasks(.networkFirstThenCache))
            await scene.simulation.advance(by: .seconds(1))
            let at = isWarm ? "@1.1" : "@1.05"
            #expect(watch.lines == ["[one, two] server \(at) idle"])
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(NewTask(title: "three", done: false))
            await scene.simulation.advance(by: .seconds(3600))
            #expect(
                watch.lines == ["[one, two] server \(at) idle", "[one, two, three] server \(at) pending idle"])
        }
    }

    @Test func onlineCacheOnlyShowsTheCacheAndNeverAsks() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            let watch = scene.watch(scene.tasks(.cacheOnly))
            await scene.simulation.advance(by: .seconds(3600))
            #expect(watch.lines == ["[one, two] cache @0.05 idle"])
            #expect(scene.readTimes == [0])
        }
    }

    @Test func onlineColdCacheOnlyShowsNilAndNeverAsks() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks(.cacheOnly))
            await scene.simulation.advance(by: .seconds(3600))
            #expect(watch.lines == ["nil cache @never idle"])
            #expect(scene.readTimes == [])
        }
    }

    // MARK: - Offline

    @Test func offlineWarmCacheFirstThenNetworkStallsStaysLiveAndSettles() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.transport.isOnline = false
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(150))
            #expect(
                watch.lines == ["[one, two] cache @0.05 refreshing", "[one, two] cache @0.05 stalled(connectivity)"])
            #expect(scene.readTimes == [0, 0.05, 0.35, 1.25, 3.65, 8.65, 23.65, 83.65, 143.65])
            scene.transport.isOnline = true
            await scene.simulation.advance(by: .seconds(60))
            #expect(watch.lines.last == "[one, two] server @203.7 idle")
            #expect(watch.end == nil)
        }
    }

    @Test func offlineWarmNetworkFirstThenCacheShowsTheCacheAtOnceStalledAndSettles() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.transport.isOnline = false
            let watch = scene.watch(scene.tasks(.networkFirstThenCache))
            await scene.simulation.settle()
            #expect(watch.lines == ["[one, two] cache @0.05 stalled(connectivity)"])
            await scene.simulation.advance(by: .seconds(4))
            #expect(scene.readTimes == [0, 0.05, 0.35, 1.25, 3.65])
            scene.transport.isOnline = true
            await scene.simulation.advance(by: .seconds(10))
            #expect(
                watch.lines == ["[one, two] cache @0.05 stalled(connectivity)", "[one, two] server @8.7 idle"])
            #expect(watch.end == nil)
        }
    }

    @Test func offlineWarmCacheOnlyShowsTheCache() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.transport.isOnline = false
            let watch = scene.watch(scene.tasks(.cacheOnly))
            await scene.simulation.advance(by: .seconds(3600))
            #expect(watch.lines == ["[one, two] cache @0.05 idle"])
        }
    }

    @Test func offlineColdCacheFirstThenNetworkShowsNilStallsAndSettles() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(8))
            #expect(watch.lines == ["nil cache @never refreshing", "nil cache @never stalled(connectivity)"])
            scene.transport.isOnline = true
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines.last == "[one, two] server @8.65 idle")
        }
    }

    @Test func offlineColdNetworkFirstThenCacheFailsWithTheConnectivityFailure() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            let watch = scene.watch(scene.tasks(.networkFirstThenCache))
            await scene.simulation.advance(by: .seconds(3600))
            #expect(watch.lines == [])
            #expect(watch.end == "connectivity")
            #expect(scene.readTimes == [0])
        }
    }

    @Test func offlineColdCacheOnlyShowsTheQueuedRowsTheQueryAdmits() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(NewTask(title: "open", done: false))
            try await scene.client.from("tasks").insert(NewTask(title: "done", done: true))
            let watch = scene.watch(scene.tasks(.cacheOnly).eq("done", value: true))
            let none = scene.watch(scene.tasks(.cacheOnly).eq("id", value: "z"))
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines == ["[done] cache @never pending idle"])
            #expect(none.lines == ["nil cache @never idle"])
        }
    }

    // MARK: - Server errors

    @Test func aServerErrorIsARefreshFailureOfCacheFirstThenNetwork() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.server.outage = SimulatedRejection(500, code: "XX000", message: "broken")
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(8))
            #expect(watch.lines == ["[one, two] cache @0.05 refreshing", "[one, two] cache @0.05 stalled(server)"])
            scene.server.outage = nil
            await scene.simulation.advance(by: .seconds(60))
            #expect(watch.lines.last?.hasSuffix("idle") == true)
        }
    }

    @Test(arguments: [400, 403, 404, 500])
    func aServerErrorFailsNetworkFirstThenCacheEvenWhenWarm(status: Int) throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.server.outage = SimulatedRejection(status, code: "XX000", message: "broken")
            let watch = scene.watch(scene.tasks(.networkFirstThenCache))
            await scene.simulation.advance(by: .seconds(60))
            #expect(watch.lines == [])
            #expect(watch.end == "server")
        }
    }

    @Test func aServerErrorIsNothingToCacheOnly() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.server.outage = SimulatedRejection(500, code: "XX000", message: "broken")
            let watch = scene.watch(scene.tasks(.cacheOnly))
            await scene.simulation.advance(by: .seconds(60))
            #expect(watch.lines == ["[one, two] cache @0.05 idle"])
        }
    }

    @Test(arguments: [503, 520])
    func aBusyServerIsAskedAgainAfterOneTwoAndFourSecondsWithinOneAttempt(status: Int) throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.server.outage = SimulatedRejection(status, code: "PGRST001", message: "busy")
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(36))
            // Four requests are one failure: 7.2 s with the latency, then 0.3, 0.9 and 2.4 s.
            let attempts: [Double] = [
                0.05, 1.1, 3.15, 7.2, 7.55, 8.6, 10.65, 14.7, 15.65, 16.7, 18.75, 22.8, 25.25, 26.3, 28.35, 32.4,
            ]
            #expect(scene.readTimes == [0] + attempts)
            #expect(watch.lines == ["[one, two] cache @0.05 refreshing", "[one, two] cache @0.05 stalled(server)"])
        }
    }

    @Test func retryAfterIsHeeded() throws {
        try ReadScene.run { scene in
            scene.server.outage = SimulatedRejection(429, code: "429", message: "slow down", retryAfter: 20)
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(19))
            scene.server.outage = nil
            await scene.simulation.advance(by: .seconds(19))
            #expect(scene.readTimes == [0, 20.05])
            #expect(watch.lines == ["nil cache @never refreshing", "[one, two] server @20.1 idle"])
        }
    }
}

/// The matrix's row "Network known down".
@Suite struct KnownDownMatrixTests {
    @Test(arguments: [true, false])
    func knownDownCacheFirstThenNetworkIsPausedAndRunsAtOnceOnReturn(byTheSwitch: Bool) throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.transport.isOnline = false
            if byTheSwitch { try await scene.client.disableNetwork() } else { scene.path.isSatisfied = false }
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(30))
            #expect(watch.lines == ["[one, two] cache @0.05 paused"])
            // A monitor may be wrong, so attempts go on; the switch is obeyed.
            #expect(scene.readTimes == (byTheSwitch ? [0] : [0, 0.05, 0.35, 1.25, 3.65, 8.65, 23.65]))
            scene.transport.isOnline = true
            if byTheSwitch { try await scene.client.enableNetwork() } else { scene.path.isSatisfied = true }
            await scene.simulation.advance(by: .seconds(1))
            #expect(
                watch.lines == [
                    "[one, two] cache @0.05 paused", "[one, two] cache @0.05 refreshing",
                    "[one, two] server @30.1 idle",
                ])
            #expect(scene.readTimes.last == 30.05)
        }
    }

    @Test(arguments: [true, false])
    func knownDownNetworkFirstThenCacheShowsTheCachePaused(byTheSwitch: Bool) throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.transport.isOnline = false
            if byTheSwitch { try await scene.client.disableNetwork() } else { scene.path.isSatisfied = false }
            let watch = scene.watch(scene.tasks(.networkFirstThenCache))
            await scene.simulation.advance(by: .seconds(30))
            #expect(watch.lines == ["[one, two] cache @0.05 paused"])
            scene.transport.isOnline = true
            if byTheSwitch { try await scene.client.enableNetwork() } else { scene.path.isSatisfied = true }
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines.last == "[one, two] server @30.1 idle")
        }
    }

    @Test(arguments: [true, false])
    func knownDownColdNetworkFirstThenCacheFailsAndSendsNothing(byTheSwitch: Bool) throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            if byTheSwitch { try await scene.client.disableNetwork() } else { scene.path.isSatisfied = false }
            let watch = scene.watch(scene.tasks(.networkFirstThenCache))
            await scene.simulation.advance(by: .seconds(30))
            #expect(watch.lines == [])
            #expect(watch.end == (byTheSwitch ? "network_disabled" : "connectivity"))
            #expect(scene.readTimes == [])
        }
    }

    @Test func knownDownCacheOnlyShowsTheCacheIdle() throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            try await scene.client.disableNetwork()
            let watch = scene.watch(scene.tasks(.cacheOnly))
            await scene.simulation.advance(by: .seconds(30))
            #expect(watch.lines == ["[one, two] cache @0.05 idle"])
        }
    }

    @Test func aRefreshThatFailsWhileTheNetworkGoesDownTurnsPausedAndSwitchingOffLeavesAnIdleReadIdle() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            try await scene.client.disableNetwork()
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines == ["nil cache @never refreshing", "[one, two] server @0.05 idle"])
            try await scene.client.enableNetwork()
            scene.transport.isOnline = false
            try await scene.client.clearLocalData()
            await scene.simulation.advance(by: .seconds(5))
            scene.path.isSatisfied = false
            await scene.simulation.advance(by: .seconds(5))
            #expect(
                watch.lines.suffix(3) == [
                    "nil cache @never refreshing", "nil cache @never stalled(connectivity)", "nil cache @never paused",
                ])
        }
    }

    @Test func callingEnableNetworkCutsAWaitShortEvenWhenItWasOn() throws {
        try ReadScene.run { scene in
            scene.transport.isOnline = false
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(10))
            scene.transport.isOnline = true
            try await scene.client.enableNetwork()
            await scene.simulation.advance(by: .milliseconds(50))
            #expect(watch.lines.last == "[one, two] server @10.05 idle")
        }
    }

    /// A scheduler syncs when the app comes to the foreground.
    @Test func comingToTheForegroundCutsAWaitShort() throws {
        try ReadScene.run { scene in
            let foreground = FakeForegroundSource()
            let scheduler = KizunaSyncScheduler(
                client: scene.client, pollInterval: 0, monitorPath: false, foregroundSource: foreground,
                refreshSession: { true }, jitterSource: { 0 })
            scheduler.sync = { try await scene.client.sync() }
            scheduler.start()
            await scene.simulation.advance(by: .seconds(1))
            scene.transport.isOnline = false
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(30))
            #expect(scene.readTimes.last == 24.6)
            scene.transport.isOnline = true
            foreground.report()
            await scene.simulation.advance(by: .seconds(5))
            #expect(scene.readTimes.last.map { $0 < 36 } == true)
            #expect(watch.lines.last?.hasPrefix("[one, two] server") == true)
            scheduler.stop()
        }
    }
}
