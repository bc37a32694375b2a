import KizunaCore
import KizunaSync
import Testing

/// Every state of the owner machine, and every event that can meet it.
@Suite struct OwnerCellTests {
    enum State: String, CaseIterable {
        case restoring, signedIn, lost, lostAsNobody, signedOut, opening, failed, rejected, closed
    }

    enum Event: String, CaseIterable {
        case restoring, sameUser, newToken, otherUser, lose, signOut, opened, openedLate, openFailed, tokenRejected
        case freshToken, freshTokenLate, freshTokenOfAnother, noFreshToken, networkBack, wanted, reset, close
    }

    /// Where a state is missing an event the test fails; "" is: nothing happens.
    private static let table: [State: [Event: String]] = [
        .restoring: [
            .restoring: "", .sameUser: "t1", .newToken: "t9", .otherUser: "open user:b 2", .lose: "",
            .signOut: "open nobody 2", .opened: "", .openedLate: "", .openFailed: "", .tokenRejected: "",
            .freshToken: "t5", .freshTokenLate: "",
            .freshTokenOfAnother: "", .noFreshToken: "ask 1 later", .networkBack: "ask 1", .wanted: "", .reset: "",
            .close: "",
        ],
        .signedIn: [
            .restoring: "none", .sameUser: "", .newToken: "t9", .otherUser: "none, open user:b 2",
            .lose: "none", .signOut: "none, open nobody 2", .opened: "", .openedLate: "", .openFailed: "",
            .tokenRejected: "ask 1, none", .freshToken: "", .freshTokenLate: "", .freshTokenOfAnother: "",
            .noFreshToken: "", .networkBack: "", .wanted: "", .reset: "", .close: "",
        ],
        .signedOut: [
            .restoring: "none", .sameUser: "none, open user:a 2", .newToken: "none, open user:a 2",
            .otherUser: "none, open user:b 2", .lose: "", .signOut: "", .opened: "", .openedLate: "", .openFailed: "",
            .tokenRejected: "", .freshToken: "", .freshTokenLate: "", .freshTokenOfAnother: "", .noFreshToken: "",
            .networkBack: "", .wanted: "", .reset: "", .close: "",
        ],
        .lost: [
            .restoring: "", .sameUser: "t1", .newToken: "t9", .otherUser: "open user:b 2", .lose: "",
            .signOut: "open nobody 2", .opened: "", .openedLate: "", .openFailed: "", .tokenRejected: "",
            .freshToken: "",
            .freshTokenLate: "", .freshTokenOfAnother: "", .noFreshToken: "", .networkBack: "", .wanted: "", .reset: "",
            .close: "",
        ],
        .lostAsNobody: [
            .restoring: "none", .sameUser: "none, open user:a 2", .newToken: "none, open user:a 2",
            .otherUser: "none, open user:b 2", .lose: "", .signOut: "", .opened: "", .openedLate: "", .openFailed: "",
            .tokenRejected: "", .freshToken: "", .freshTokenLate: "", .freshTokenOfAnother: "", .noFreshToken: "",
            .networkBack: "", .wanted: "", .reset: "", .close: "",
        ],
        .opening: [
            .restoring: "", .sameUser: "open user:a 3", .newToken: "open user:a 3", .otherUser: "", .lose: "",
            .signOut: "open nobody 3", .opened: "t2", .openedLate: "", .openFailed: "", .tokenRejected: "",
            .freshToken: "", .freshTokenLate: "", .freshTokenOfAnother: "", .noFreshToken: "", .networkBack: "",
            .wanted: "",
            .reset: "",
            .close: "",
        ],
        .failed: [
            .restoring: "", .sameUser: "open user:a 3", .newToken: "open user:a 3", .otherUser: "", .lose: "",
            .signOut: "open nobody 3", .opened: "", .openedLate: "", .openFailed: "", .tokenRejected: "",
            .freshToken: "", .freshTokenLate: "", .freshTokenOfAnother: "", .noFreshToken: "", .networkBack: "",
            .wanted: "open user:b 3",
            .reset: "",
            .close: "",
        ],
        .rejected: [
            .restoring: "", .sameUser: "", .newToken: "t9", .otherUser: "open user:b 2", .lose: "",
            .signOut: "open nobody 2", .opened: "", .openedLate: "", .openFailed: "", .tokenRejected: "",
            .freshToken: "t5",
            .freshTokenLate: "", .freshTokenOfAnother: "", .noFreshToken: "ask 1 later", .networkBack: "ask 1",
            .wanted: "",
            .reset: "", .close: "",
        ],
        .closed: Dictionary(uniqueKeysWithValues: Event.allCases.map { ($0, "") }),
    ]

    @Test(arguments: State.allCases)
    func everyCellIsAsTheTableSays(_ state: State) throws {
        let cells = try #require(Self.table[state])
        for event in Event.allCases {
            let expected = try #require(cells[event], "\(state) × \(event) is missing")
            var machine = Self.machine(in: state)
            let effects = machine.handle(Self.event(event, machine.generation))
            #expect(effects.map(Self.word).joined(separator: ", ") == expected, "\(state) × \(event)")
        }
    }

    /// O3: with whatever has happened, a token is only ever given out for the owner whose vault is open.
    @Test func credentialsAreAlwaysTheOpenOwners() {
        for state in State.allCases {
            for first in Event.allCases {
                for second in Event.allCases {
                    var machine = Self.machine(in: state)
                    _ = machine.handle(Self.event(first, machine.generation))
                    _ = machine.handle(Self.event(second, machine.generation))
                    let isFitting =
                        switch machine.credentials {
                        case .unsettled: true
                        case .anonymous: machine.owner == .nobody
                        case .token(let token): machine.owner == .user(token == "t2" ? "b" : "a")
                        }
                    #expect(isFitting, "\(state), \(first), \(second)")
                }
            }
        }
    }

    @Test func eachFailureToGetATokenWaitsLonger() {
        var machine = Self.machine(in: .rejected)
        let waits = (1...3).flatMap { _ in machine.handle(.noFreshToken(generation: 1, jitter: 1)) }
        #expect(
            waits == [
                .askForToken(generation: 1, after: .milliseconds(300)),
                .askForToken(generation: 1, after: .milliseconds(900)),
                .askForToken(generation: 1, after: .milliseconds(2400)),
            ])
    }

    private static func machine(in state: State) -> OwnerMachine {
        let isNobody = state == .signedOut || state == .lostAsNobody
        var machine = OwnerMachine(lastOwner: isNobody ? .nobody : .user("a"))
        if state == .signedOut { _ = machine.handle(.session(.signedOut)) }
        if state == .lost || state == .lostAsNobody { _ = machine.handle(.session(.lost)) }
        if [.restoring, .signedOut, .lost, .lostAsNobody].contains(state) { return machine }
        _ = machine.handle(.session(.signedIn(userID: "a", accessToken: "t1")))
        switch state {
        case .opening: _ = machine.handle(.session(.signedIn(userID: "b", accessToken: "t2")))
        case .failed:
            _ = machine.handle(.session(.signedIn(userID: "b", accessToken: "t2")))
            _ = machine.handle(.storeFailed(generation: 2))
        case .rejected: _ = machine.handle(.tokenRejected(token: "t1", now: .zero))
        case .closed: _ = machine.handle(.closed)
        case .restoring, .signedIn, .lost, .lostAsNobody, .signedOut: break
        }
        return machine
    }

    private static func event(_ event: Event, _ generation: Int) -> OwnerMachine.Event {
        switch event {
        case .restoring: .session(.restoring)
        case .sameUser: .session(.signedIn(userID: "a", accessToken: "t1"))
        case .newToken: .session(.signedIn(userID: "a", accessToken: "t9"))
        case .otherUser: .session(.signedIn(userID: "b", accessToken: "t2"))
        case .lose: .session(.lost)
        case .signOut: .session(.signedOut)
        case .opened: .storeOpened(generation: generation)
        case .openedLate: .storeOpened(generation: generation - 1)
        case .openFailed: .storeFailed(generation: generation)
        case .tokenRejected: .tokenRejected(token: "t1", now: .zero)
        case .freshToken: .freshToken(generation: generation, userID: "a", token: "t5")
        case .freshTokenLate: .freshToken(generation: generation - 1, userID: "a", token: "t5")
        case .freshTokenOfAnother: .freshToken(generation: generation, userID: "z", token: "t5")
        case .noFreshToken: .noFreshToken(generation: generation, jitter: 0)
        case .networkBack: .networkReturned
        case .wanted: .retryOpeningStore
        case .reset: .reset
        case .close: .closed
        }
    }

    private static func word(_ effect: OwnerMachine.Effect) -> String {
        switch effect {
        case .open(let owner, let generation): "open \(owner.text) \(generation)"
        case .credentials(.unsettled): "none"
        case .credentials(.anonymous): "anonymous"
        case .credentials(.token(let token)): token
        case .askForToken(let generation, let delay): "ask \(generation)\(delay > .zero ? " later" : "")"
        case .softBlocked(let reason): "blocked \(reason)"
        }
    }
}
