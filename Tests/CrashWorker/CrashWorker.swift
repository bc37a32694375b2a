internal import Foundation
internal import KizunaSync
internal import KizunaTransport
internal import Synchronization

/// Does a job of writes on a store, says on standard output what it has seen, and ends when the queue is empty.
///
/// Its surroundings come in environment variables:
/// - `KIZUNA_URL`, `KIZUNA_KEY`, `KIZUNA_STORE`: the project and the folder of the store; `KIZUNA_TOKEN`: who is signed in.
/// - `KIZUNA_JOB`: one step a line (`WorkerStep`); none where it only drains.
/// - `KIZUNA_OFFLINE_FIRST`: the whole job is queued before the first request.
/// - `KIZUNA_KILL`: where it kills or stops itself (`KillPoint`).
/// - `KIZUNA_LEASE_MS`: how long a turn to send is.
/// - `KIZUNA_SENDER`: the name under which it sends.
/// - `KIZUNA_WATCH`: it stays offline after its job, says which writes it sees and when, and ends when it has seen so many.
enum CrashWorker {
    static func run(_ variables: [String: String]) async -> Int32 {
        guard let url = variables["KIZUNA_URL"].flatMap(URL.init(string:)), let key = variables["KIZUNA_KEY"],
            let folder = variables["KIZUNA_STORE"]
        else {
            say("failed: KIZUNA_URL, _KEY and _STORE must be set")
            return 64
        }
        let kill = KillSwitch(variables["KIZUNA_KILL"].flatMap(KillPoint.init(text:)))
        var dependencies = Engine.Dependencies()
        dependencies.willCommit = { kill.pass(.commit) }
        dependencies.transport = KillingTransport(
            inner: PlatformTransport.http(), kill: kill, sender: variables["KIZUNA_SENDER"])
        if let lease = variables["KIZUNA_LEASE_MS"].flatMap({ Int($0) }) {
            dependencies.leaseLength = .milliseconds(lease)
        }
        let client = KizunaSyncClient(dependencies: dependencies)
        do {
            try await patiently {
                try await client.create(
                    KizunaSyncConfiguration(
                        url: url, publishableKey: key, dataDirectory: URL(fileURLWithPath: folder),
                        requestTimeout: .seconds(10)))
            }
            let watched = variables["KIZUNA_WATCH"].flatMap { Int($0) }
            let isOfflineFirst = variables["KIZUNA_OFFLINE_FIRST"] != nil || watched != nil
            if isOfflineFirst { try await client.disableNetwork() }
            if let token = variables["KIZUNA_TOKEN"] { try await client.setAccessToken(token) }
            let steps = (variables["KIZUNA_JOB"] ?? "").split(separator: "\n").compactMap(WorkerStep.init(line:))
            for step in steps {
                let keys = try await patiently { try await step.perform(with: client) }
                if !keys.isEmpty { say("accepted \(keys.joined(separator: ",")) \(milliseconds())") }
            }
            if let watched { return try await watch(client, until: watched) }
            if isOfflineFirst { try await client.enableNetwork() }
            try await waitUntilDrained(client)
            await client.close()
            return 0
        } catch {
            say("failed: \(error)")
            return 1
        }
    }

    /// Tries again what another process, stopped in the middle of a transaction, keeps waiting: nothing was written then.
    private static func patiently<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        while true {
            do {
                return try await body()
            } catch let error as SyncError where error.code == .storeBusy {
                say("busy")
            }
        }
    }

    private static func waitUntilDrained(_ client: KizunaSyncClient) async throws {
        for try await pending in client.pendingMutations(table: WorkerStep.table) where pending.isEmpty { break }
        for try await rejected in client.rejectedMutations {
            say("drained \(rejected.count)")
            for each in rejected { say("refused \(each.failure.status) \(each.failure.code ?? "-")") }
            break
        }
    }

    /// Says each waiting write when it is first seen.
    private static func watch(_ client: KizunaSyncClient, until count: Int) async throws -> Int32 {
        say("watching")
        var seen: Set<String> = []
        for try await pending in client.pendingMutations(table: WorkerStep.table) {
            let now = milliseconds()
            for write in pending where seen.insert(write.id).inserted {
                say("saw \(write.rowIDs.joined(separator: ",")) \(now)")
            }
            if seen.count >= count { break }
        }
        await client.close()
        return 0
    }

    /// The machine's clock, which all processes read alike.
    private static func milliseconds() -> String {
        String(format: "%.3f", ProcessInfo.processInfo.systemUptime * 1_000)
    }

    private static let output = Mutex(FileHandle.standardOutput)

    static func say(_ line: String) {
        output.withLock { $0.write(Data((line + "\n").utf8)) }
    }
}
