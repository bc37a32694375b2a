internal import Foundation
internal import KizunaCore
internal import KizunaLocal
internal import KizunaSync

/// Two devices of one user, step by step. Each line is printed after its statement was observed.
final class DemoStory {
    static let schema = """
        CREATE TABLE tasks (
            id uuid PRIMARY KEY,
            title text NOT NULL CONSTRAINT title_not_empty CHECK (title <> ''),
            done boolean NOT NULL DEFAULT false,
            owner uuid NOT NULL DEFAULT auth.uid(),
            created_at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        ALTER TABLE tasks ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own_tasks ON tasks USING (owner = auth.uid()) WITH CHECK (owner = auth.uid());
        """

    private let backend: LocalBackend
    private let folder: URL
    private let token: String
    private var step = 0

    init(backend: LocalBackend, folder: URL) async throws {
        self.backend = backend
        self.folder = folder
        token = try await Self.signUp(at: backend)
        let version = try await backend.query("SELECT current_setting('server_version') AS version")
        print("PostgreSQL \(version.first?["version"] ?? "?") behind \(backend.url), one user signed up, two devices\n")
    }

    func tell() async throws {
        var phone = try device("A", isOffline: false)
        let laptop = try device("B", isOffline: false)
        do {
            try await tell(&phone, laptop)
        } catch {
            for device in [phone, laptop] { await device.quit() }
            throw error
        }
        for device in [phone, laptop] { await device.quit() }
        print("\nAll \(step) steps were observed.")
    }

    private func tell(_ phone: inout DeviceProcess, _ laptop: DeviceProcess) async throws {
        for device in [phone, laptop] { try await device.see("be ready") { $0.isReady && $0.refresh == "idle" } }
        let milk = try await phone.perform(.add(title: "buy milk"))
        try await phone.see("have delivered") { $0.pending.isEmpty && $0.tasks?.count == 1 }
        try await laptop.perform(.pull)
        try await laptop.see("show one task") { $0.tasks?.map(\.title) == ["buy milk"] }
        say("A adds «buy milk» online: the server has it, B shows it after a pull")

        let offline = try await workOffline(phone, laptop, milk)
        phone = try await killAndRestart(phone, offline)
        try await reconnect(phone, laptop, milk)
        try await loseAnResponse(phone)
        try await breakAConstraint(phone)
        try await compare(phone, laptop)
    }

    // MARK: - The steps

    private func workOffline(_ phone: DeviceProcess, _ laptop: DeviceProcess, _ milk: String) async throws -> [String] {
        try await phone.perform(.goOffline)
        var ids: [String] = []
        for title in ["call Ada", "water plants", "pay rent"] {
            ids.append(try await phone.perform(.add(title: title)))
        }
        try await phone.perform(.setDone(id: milk))
        let all = Set(ids + [milk])
        let seen = try await phone.see("show 4 tasks, all pending") { sight in
            sight.tasks?.count == 4 && sight.tasks?.first { $0.id == milk }?.done == true && Set(sight.pending) == all
        }
        say(
            "A is offline and writes 3 tasks and ticks off «buy milk»: all 4 rows show on A, \(seen.pending.count) writes pending"
        )
        try await laptop.perform(.pull)
        let other = try await laptop.see("show the old list") { $0.tasks?.count == 1 && $0.tasks?.first?.done == false }
        let rows = try await serverTasks()
        try expect(rows == other.tasks, "the server has what B shows")
        say("B pulls and still shows 1 task, not done; the server has just that")
        return ids
    }

    private func killAndRestart(_ phone: DeviceProcess, _ ids: [String]) async throws -> DeviceProcess {
        let before = phone.sight
        await phone.kill()
        let again = try device("A", isOffline: true)
        let after = try await again.see("show the same after the kill") { sight in
            sight.tasks == before.tasks && sight.pending == before.pending
        }
        say(
            "A is killed (SIGKILL) and started again offline: the same \(after.tasks?.count ?? 0) rows, \(after.pending.count) writes pending"
        )
        return again
    }

    private func reconnect(_ phone: DeviceProcess, _ laptop: DeviceProcess, _ milk: String) async throws {
        try await phone.perform(.goOnline)
        try await phone.see("deliver everything") { $0.pending.isEmpty && $0.refresh == "idle" }
        let rows = try await serverTasks()
        try expect(
            rows.count == 4 && rows.first { $0.id == milk }?.done == true, "the server has 4 rows, «buy milk» done")
        try await laptop.perform(.pull)
        try await laptop.see("show what the server has") { $0.tasks == rows }
        say("The network comes back: the queue is empty, the server has \(rows.count) rows, B shows them after a pull")
    }

    private func loseAnResponse(_ phone: DeviceProcess) async throws {
        backend.control.clearRequests()
        backend.control.add(FaultRule(.dropAnswer, method: "POST", path: "/rest/v1/tasks"))
        let id = try await phone.perform(.add(title: "post the letter"))
        // A device reports its list, its queue and its rejections one after another; an empty queue may be outdated.
        try await phone.see("deliver after the lost answer") { [backend] sight in
            sight.pending.isEmpty && sight.refresh == "idle" && Self.posts(backend).count > 1
        }
        let posts = Self.posts(backend)
        let rows = try await serverTasks().filter { $0.id == id }
        try expect(posts.count > 1, "the write was sent again")
        try expect(rows.count == 1, "exactly one row of that key")
        say(
            "The answer to one write is lost after the server handled it: sent \(posts.count) times, \(rows.count) row on the server"
        )
    }

    private func breakAConstraint(_ phone: DeviceProcess) async throws {
        try await phone.perform(.goOffline)
        let first = try await phone.perform(.add(title: "before the bad one"))
        let bad = try await phone.perform(.add(title: ""))
        let last = try await phone.perform(.add(title: "after the bad one"))
        try await phone.perform(.goOnline)
        let seen = try await phone.see("have one rejection, an empty queue and a list without the rejected row") {
            sight in
            let shown = Set((sight.tasks ?? []).map(\.id))
            return sight.pending.isEmpty && sight.rejected == [bad] && sight.refresh == "idle"
                && shown.isSuperset(of: [first, last]) && !shown.contains(bad)
        }
        let keys = Set(try await serverTasks().map(\.id))
        try expect(
            keys.isSuperset(of: [first, last]) && !keys.contains(bad),
            "the others are on the server, the bad one is not")
        say(
            "One write violates a constraint: rejected (\(seen.reasons.joined())), kept for a decision; the 2 others are delivered"
        )
    }

    private func compare(_ phone: DeviceProcess, _ laptop: DeviceProcess) async throws {
        try await phone.perform(.pull)
        try await laptop.perform(.pull)
        let rows = try await serverTasks()
        for device in [phone, laptop] { try await device.see("equal the server") { $0.tasks == rows } }
        say("Both devices show exactly `select * from tasks`: \(rows.count) rows")
    }

    // MARK: -

    private func say(_ text: String) {
        step += 1
        print("  \(step). \(text)")
    }

    private func expect(_ isTrue: Bool, _ what: String) throws {
        guard isTrue else { throw DemoFault(what) }
    }

    private func device(_ name: String, isOffline: Bool) throws -> DeviceProcess {
        try DeviceProcess(
            name: name,
            environment: [
                "KIZUNA_URL": backend.url, "KIZUNA_KEY": backend.anonKey, "KIZUNA_TOKEN": token,
                "KIZUNA_STORE": folder.appendingPathComponent(name).path,
            ], isOffline: isOffline)
    }

    private static func posts(_ backend: LocalBackend) -> [LoggedRequest] {
        backend.control.requests.filter { $0.method == "POST" }
    }

    private func serverTasks() async throws -> [DemoTask] {
        let json = try await backend.query("SELECT coalesce(json_agg(t), '[]') AS rows FROM (SELECT * FROM tasks) t")
        let tasks = try JSONDecoder().decode([DemoTask].self, from: Data((json.first?["rows"] ?? "[]").utf8))
        return DemoTask.sorted(tasks)
    }

    /// Signs up a user as an app does. Returns the access token for both devices.
    private static func signUp(at backend: LocalBackend) async throws -> String {
        guard let url = URL(string: backend.url) else { throw DemoFault("the backend's URL is none") }
        let auth = KizunaAuth(url: url, publishableKey: backend.anonKey)
        try await auth.signUp(email: "ada@example.com", password: "correct horse")
        for await state in auth.states() {
            if case .signedIn(_, let token) = state { return token }
        }
        throw DemoFault("signing up gave no session")
    }
}
