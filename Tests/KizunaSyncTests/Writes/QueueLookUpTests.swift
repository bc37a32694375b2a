import KizunaCore
import KizunaSync
import Testing

/// Every reason to look rows up, and everything a look-up may find.
@Suite struct QueueLookUpTests {
    private static let none = ServerFailure.noRowMatched(status: 200)

    private static let results: [QueueMachine.LookUpResult] = [
        .present(["a"]), .present([]), .remaining(["a"]), .remaining([]), .notToBeTold, .movedRow(isThere: true),
        .movedRow(isThere: false), .failed,
    ]

    /// One mutation that was not sent before, by what the look-up found.
    private static let table: [(QueueMachine.LookUp, [String])] = [
        (
            .duplicate(serverFault(409, "23505")),
            [
                "deliver a", "refuse a", "note a?, timer", "note a?, timer", "note a?, timer", "note a?, timer",
                "note a?, timer", "note a?, timer",
            ]
        ),
        (
            .deletedRows(done: [], none),
            [
                "deliver a", "deliver a", "refuse a", "deliver a", "deliver a", "deliver a", "deliver a",
                "note a?, timer",
            ]
        ),
        (
            .deletedRows(done: ["a"], none),
            [
                "deliver a", "deliver a", "deliver a", "deliver a", "deliver a", "deliver a", "deliver a", "deliver a",
            ]
        ),
        (
            .movedRow(none),
            [
                "refuse a", "refuse a", "refuse a", "refuse a", "refuse a", "refuse a", "refuse a", "refuse a",
            ]
        ),
    ]

    @Test func everyResultMeetsEveryPurpose() {
        for (purpose, expected) in Self.table {
            #expect(expected.count == Self.results.count)
            for (result, words) in zip(Self.results, expected) {
                var rig = QueueRig()
                rig.handle(.queued([queueItem("a", "1", makes: false, isKeyed: true)]))
                #expect(rig.handle(.answered(flight: 1, .lookUp(purpose), jitter: 0)) == "look up a")
                #expect(rig.handle(.lookedUp(flight: 1, result, jitter: 0)) == words, "\(purpose) × \(result)")
            }
        }
    }

    /// An update that moved its row before and meets none now did its work, unless the row is gone from its new key too.
    @Test func anUpdateThatMovedItsRowBeforeIsDelivered() {
        for (result, words) in [
            (QueueMachine.LookUpResult.movedRow(isThere: true), "deliver a"), (.movedRow(isThere: false), "refuse a"),
            (.failed, "deliver a"),
        ] {
            var rig = QueueRig()
            rig.handle(.queued([queueItem("a", "1", makes: false, isKeyed: true, maybeSent: true)]))
            rig.handle(.answered(flight: 1, .lookUp(.movedRow(Self.none)), jitter: 0))
            #expect(rig.handle(.lookedUp(flight: 1, result, jitter: 0)) == words, "\(result)")
        }
    }

    @Test func sharedDeletesAreToldApart() {
        for (result, words) in [
            (QueueMachine.LookUpResult.remaining(["c"]), "note c, deliver a+b, send c"),
            (.remaining([]), "deliver a+b+c"), (.failed, "note b+c, deliver a, send b, send c"),
            (.notToBeTold, "note b+c, deliver a, send b, send c"),
        ] {
            var rig = QueueRig()
            rig.handle(
                .queued(
                    ["a", "b", "c"].map { queueItem($0, $0, makes: false, batch: "delete", isKeyed: true) }))
            rig.handle(.answered(flight: 1, .lookUp(.deletedRows(done: ["a"], Self.none)), jitter: 0))
            #expect(rig.handle(.lookedUp(flight: 1, result, jitter: 0)) == words, "\(result)")
        }
    }
}
