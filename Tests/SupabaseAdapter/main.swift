import Foundation
import KizunaSync
import Supabase
import Synchronization

// Run by scripts/check-supabase against a stand-in of supabase-swift: an app's view of the trait's two types.

struct Failure: Error, CustomStringConvertible {
    let description: String
}

func expect(_ isSo: Bool, _ what: String) throws {
    guard isSo else { throw Failure(description: what) }
}

let user = UUID(uuid: (1, 1, 1, 1, 1, 1, 0x41, 1, 0x81, 1, 1, 1, 1, 1, 1, 1))

/// A token of the user; its signature is nothing.
func token(_ serial: Int) -> String {
    let claims = Data(#"{"sub":"\#(user.uuidString.lowercased())","serial":\#(serial)}"#.utf8).base64EncodedString()
    return "e30.\(claims.replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_")).x"
}

func state(_ serial: Int) -> SessionState {
    .signedIn(userID: user.uuidString.lowercased(), accessToken: token(serial))
}

func makeClient() throws -> SupabaseClient {
    guard let url = URL(string: "http://127.0.0.1:1") else { throw Failure(description: "no URL") }
    return SupabaseClient(supabaseURL: url, supabaseKey: "key")
}

func sessionStories() async throws {
    let client = try makeClient()
    client.auth.store(Session(accessToken: token(1), userID: user))
    client.auth.setReachable(false)
    let session = SupabaseSession(client: client)
    var states = session.states().makeAsyncIterator()
    try expect(await states.next() == .restoring, "offline, with a session stored, it is being restored")
    client.auth.setReachable(true)
    let fresh = try await session.freshToken()
    try expect(fresh == token(1), "a token is asked for")
    for (serial, event) in [
        (2, AuthChangeEvent.tokenRefreshed), (3, .signedIn), (4, .userUpdated), (5, .passwordRecovery),
    ] {
        let next = Session(accessToken: token(serial), userID: user)
        client.auth.tell(event, next, storing: next)
        try expect(await states.next() == state(serial), "\(event) is the session's")
    }
    client.auth.tell(.signedOut, nil, storing: nil)
    try expect(await states.next() == .lost, "a session the server ended is lost")
    let none = try await session.freshToken()
    try expect(none == nil, "without a stored session there is no token")
    let again = Session(accessToken: token(6), userID: user)
    client.auth.tell(.signedIn, again, storing: again)
    try expect(await states.next() == state(6), "the next sign-in counts")
    try await session.signOut(scope: .others)
    client.auth.tell(.tokenRefreshed, again, storing: again)
    try expect(await states.next() == state(6), "a sign-out of other devices leaves this one signed in")
    try await session.signOut()
    try expect(await states.next() == .signedOut, "a sign-out that was asked for is one")
    var later = session.states().makeAsyncIterator()
    try expect(await later.next() == .signedOut, "whoever asks after a sign-out is told so")
    try expect(await states.next() == .signedOut, "and who knew already is told again")
    try expect(client.auth.calls == ["refresh", "signOut others", "signOut global"], "\(client.auth.calls)")
    client.auth.tell(.tokenRefreshed, again, storing: again)
    let back = Session(accessToken: token(7), userID: user)
    client.auth.tell(.signedIn, back, storing: back)
    try expect(await states.next() == state(7), "a refresh that crossed the sign-out signs nobody in")
}

func doorbellStories() async throws {
    let client = try makeClient()
    client.realtimeV2.failFirstJoins(1)
    let (wakes, ring) = AsyncStream<Void>.makeStream()
    let doorbell = SupabaseRealtimeWakeup(client: client)
    let subscription = doorbell.subscribe(topics: ["kizunasync:todos"]) { ring.yield() }
    var woken = wakes.makeAsyncIterator()
    await woken.next()
    let channels = client.realtimeV2.made
    try expect(channels.map(\.topic) == ["kizunasync:todos"] && channels[0].isPrivate, "one private channel a topic")
    channels[0].broadcast("other")
    channels[0].broadcast("changed")
    await woken.next()
    channels[0].rejoin()
    await woken.next()
    var statuses = channels[0].statusChange.makeAsyncIterator()
    try expect(await statuses.next() == .subscribed, "it is joined")
    subscription.cancel()
    try expect(await statuses.next() == .unsubscribed, "a cancelled doorbell leaves its channel")
    ring.finish()
    try expect(await woken.next() == nil, "each ring was counted once")
}

/// A scheduler that is stopped and started at once.
func doorbellIsHungAnew() async throws {
    let client = try makeClient()
    let doorbell = SupabaseRealtimeWakeup(client: client)
    let (wakes, ring) = AsyncStream<Void>.makeStream()
    var woken = wakes.makeAsyncIterator()
    let first = doorbell.subscribe(topics: ["kizunasync:todos"]) { ring.yield() }
    await woken.next()
    first.cancel()
    let second = doorbell.subscribe(topics: ["kizunasync:todos"]) { ring.yield() }
    await woken.next()
    let channels = client.realtimeV2.made
    try expect(channels.count == 2, "the channel that is being left is not listened to again")
    channels[1].broadcast("changed")
    await woken.next()
    second.cancel()
}

@MainActor func schedulerTakesIt() throws -> KizunaSyncScheduler {
    let client = try makeClient()
    return KizunaSyncScheduler(
        client: KizunaSyncClient(), realtime: SupabaseRealtimeWakeup(client: client), realtimeTables: ["todos"],
        refreshSession: { true })
}

do {
    try await sessionStories()
    try await doorbellStories()
    try await doorbellIsHungAnew()
    _ = try schedulerTakesIt()
    print("check-supabase: the adapters follow supabase-swift")
} catch {
    print("check-supabase: \(error)")
    exit(1)
}
