import KizunaSync
import Testing

/// What supabase-swift's Auth tells, in each state and under both meanings of its `signedOut`.
@Suite struct SupabaseSessionMachineTests {
    private static let session = SupabaseSessionMachine.Session(userID: "a", accessToken: "t")
    private static let signedIn = SessionState.signedIn(userID: "a", accessToken: "t")
    private static let events: [SupabaseSessionMachine.Event] = [
        .initial(session, isStored: true), .initial(nil, isStored: true), .initial(nil, isStored: false),
        .signedIn(session), .continued(session), .signedOut, .signOutAsked,
    ]

    private func responses(
        _ meaning: SignedOutEventMeaning, after first: SupabaseSessionMachine.Event? = nil
    ) -> [SessionState?] {
        Self.events.map { event in
            var machine = SupabaseSessionMachine(signedOutEvents: meaning)
            if let first { _ = machine.handle(first) }
            return machine.handle(event)
        }
    }

    @Test(arguments: [nil, SupabaseSessionMachine.Event.signedIn(session), .signedOut])
    func aSignedOutEventIsALostSessionUnlessASignOutWasAskedFor(_ first: SupabaseSessionMachine.Event?) {
        #expect(
            responses(.lostSession, after: first)
                == [Self.signedIn, .restoring, .lost, Self.signedIn, Self.signedIn, .lost, .signedOut])
    }

    @Test func aSignedOutEventIsASignOutForAnAppThatSignsOutItself() {
        let open: [SessionState?] = [
            Self.signedIn, .restoring, .signedOut, Self.signedIn, Self.signedIn, .signedOut, .signedOut,
        ]
        #expect(responses(.signOut) == open)
        #expect(responses(.signOut, after: .signedIn(Self.session)) == open)
    }

    /// supabase-swift may tell a refreshed token after the sign-out that its answer crossed.
    @Test(arguments: [
        (SignedOutEventMeaning.lostSession, SupabaseSessionMachine.Event.signOutAsked),
        (.signOut, .signOutAsked), (.signOut, .signedOut),
    ])
    func afterASignOutOnlyASignInCounts(_ meaning: SignedOutEventMeaning, _ end: SupabaseSessionMachine.Event) {
        #expect(
            responses(meaning, after: end)
                == [.signedOut, .signedOut, .signedOut, Self.signedIn, nil, nil, .signedOut])
    }

    @Test func afterTheNextSignInTheSessionIsFollowedAgain() {
        var machine = SupabaseSessionMachine(signedOutEvents: .lostSession)
        _ = machine.handle(.signOutAsked)
        _ = machine.handle(.signedIn(Self.session))
        #expect(machine.handle(.continued(Self.session)) == Self.signedIn)
        #expect(machine.handle(.signedOut) == .lost)
    }
}
