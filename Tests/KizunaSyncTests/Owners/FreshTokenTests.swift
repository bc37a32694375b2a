import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// A token that was asked for counts only for the owner it was asked for.
@Suite struct FreshTokenTests {
    private func open(_ user: String) -> OwnerMachine {
        var machine = OwnerMachine(lastOwner: .user(user))
        _ = machine.handle(.session(.signedIn(userID: user, accessToken: "t1")))
        return machine
    }

    @Test func aTokenThatComesAfterASignOutIsDropped() {
        var machine = open("alice")
        let asked = machine.handle(.tokenRejected(token: "t1", now: .zero))
        #expect(asked == [.askForToken(generation: 1, after: .zero), .credentials(.unsettled)])
        _ = machine.handle(.session(.signedOut))
        _ = machine.handle(.storeOpened(generation: 2))
        #expect(machine.handle(.freshToken(generation: 1, userID: "alice", token: "t2")) == [])
        #expect(machine.owner == .nobody)
        #expect(machine.credentials == .anonymous)
    }

    @Test func aTokenThatComesAfterASwitchAndBackIsDropped() {
        var machine = open("alice")
        _ = machine.handle(.tokenRejected(token: "t1", now: .zero))
        _ = machine.handle(.session(.signedIn(userID: "bruno", accessToken: "b1")))
        _ = machine.handle(.session(.signedIn(userID: "alice", accessToken: "t3")))
        _ = machine.handle(.storeOpened(generation: 3))
        #expect(machine.handle(.freshToken(generation: 1, userID: "alice", token: "t2")) == [])
        #expect(machine.credentials == .token("t3"))
    }

    @Test func aTokenOfAnotherUserNeverChangesTheOwner() {
        var machine = open("alice")
        _ = machine.handle(.tokenRejected(token: "t1", now: .zero))
        #expect(machine.handle(.freshToken(generation: 1, userID: "bruno", token: "b1")) == [])
        #expect(machine.owner == .user("alice"))
    }

    @Test func theSameTokenAgainIsNoNewOne() {
        var machine = open("alice")
        _ = machine.handle(.tokenRejected(token: "t1", now: .zero))
        #expect(machine.handle(.session(.signedIn(userID: "alice", accessToken: "t1"))) == [])
        #expect(
            machine.handle(.freshToken(generation: 1, userID: "alice", token: "t2")) == [.credentials(.token("t2"))])
    }

    @Test func aRejectedTokenThatIsAllThereIsGoesOutAgainAfterMoreThanAMinute() {
        var machine = open("alice")
        _ = machine.handle(.tokenRejected(token: "t1", now: .zero))
        let waits = [300, 900, 2400, 5000, 15_000, 60_000]
        for wait in waits {
            #expect(
                machine.handle(.freshToken(generation: 1, userID: "alice", token: "t1", jitter: 1))
                    == [.askForToken(generation: 1, after: .milliseconds(wait))])
        }
        #expect(
            machine.handle(.freshToken(generation: 1, userID: "alice", token: "t1", jitter: 1))
                == [.credentials(.token("t1"))])
        let again = machine.handle(.tokenRejected(token: "t1", now: .zero + .seconds(84)))
        #expect(again == [.askForToken(generation: 1, after: .milliseconds(300)), .credentials(.unsettled)])
        #expect(
            machine.handle(.freshToken(generation: 1, userID: "alice", token: "t1", jitter: 1))
                == [.askForToken(generation: 1, after: .milliseconds(300))])
    }

    @Test func rejectionsInARowAskLessAndLessOften() {
        var machine = open("alice")
        var now = MonotonicInstant.zero
        var waits: [Duration] = []
        for serial in 1...9 {
            for effect in machine.handle(.tokenRejected(token: "t\(serial)", now: now)) {
                if case .askForToken(_, let wait) = effect {
                    waits.append(wait)
                    now = now + wait
                }
            }
            _ = machine.handle(.freshToken(generation: 1, userID: "alice", token: "t\(serial + 1)"))
        }
        #expect(
            waits == [.zero] + [300, 900, 2400, 5000, 15_000, 60_000, 60_000, 60_000].map { .milliseconds($0) })
        now = now + .seconds(3600)
        #expect(
            machine.handle(.tokenRejected(token: "t10", now: now)).first == .askForToken(generation: 1, after: .zero))
    }

    @Test func anOldTokensRejectionSaysNothingOfTheNewOne() {
        var machine = open("alice")
        _ = machine.handle(.session(.signedIn(userID: "alice", accessToken: "t2")))
        #expect(machine.handle(.tokenRejected(token: "t1", now: .zero)) == [])
        #expect(machine.credentials == .token("t2"))
    }

    @Test func theNetworksReturnAsksOnlyWhereATokenIsMissing() {
        var machine = open("alice")
        #expect(machine.handle(.networkReturned) == [])
        _ = machine.handle(.session(.restoring))
        #expect(machine.handle(.networkReturned) == [.askForToken(generation: 1, after: .zero)])
        var nobody = OwnerMachine(lastOwner: .nobody)
        #expect(nobody.handle(.networkReturned) == [])
    }

    /// Seen in the field: the queue's request with the old token is refused after the new one was handed over.
    @Test func aRefusalOfTheOldTokenDoesNotStopTheQueueWithTheNewOne() throws {
        try withTemporaryFolder { folder in
            try Simulation.run { simulation in
                let scene = try OwnerScene(simulation, folder: folder)
                let client = try await scene.client()
                scene.network.allowed = ["alice", nil]
                try await scene.signIn("alice", on: client)
                scene.network.isHolding = true
                let receipt = try await scene.insert("x", as: "alice", on: client)
                await simulation.settle()
                #expect(scene.network.waitingCount == 1)
                try await scene.signIn("alice", on: client, serial: 2)
                await simulation.settle()
                scene.network.isHolding = false
                scene.network.release(0, .tokenRejected)
                try await receipt.delivered()
                #expect(scene.titles(of: "alice") == ["server row of alice", "x"])
            }
        }
    }
}
