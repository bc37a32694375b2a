internal import Foundation
internal import KizunaCore
internal import KizunaLocal
internal import KizunaStore
internal import KizunaSync
internal import KizunaTransport

/// Emptying a long queue into a real PostgreSQL, without delay and with a round trip of 50 ms.
enum Drain {
    private static let schema = """
        CREATE TABLE tasks (
            id uuid PRIMARY KEY,
            list_id uuid NOT NULL,
            title text NOT NULL,
            position int NOT NULL,
            done boolean NOT NULL DEFAULT false,
            created_at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        """
    /// The time limit of one drain; the rate is that of the mutations delivered until then.
    private static let limit = Duration.seconds(15)

    static func run(isQuick: Bool) async throws -> [Figure] {
        let backend = try await LocalBackend.start(LocalSettings(sql: [schema]))
        do {
            var figures: [Figure] = []
            let writes = isQuick ? 500 : 10_000
            for delay in [0, 50] {
                backend.control.removeFault()
                if delay > 0 {
                    backend.control.add(FaultRule(.delay(.milliseconds(delay)), path: "/rest/v1", count: nil))
                }
                figures += try await drain(backend, writes, isMixed: false, delay)
                figures += try await drain(backend, writes, isMixed: true, delay)
            }
            await backend.stop()
            return figures
        } catch {
            await backend.stop()
            throw error
        }
    }

    private static func drain(
        _ backend: LocalBackend, _ writes: Int, isMixed: Bool, _ delay: Int
    ) async throws -> [Figure] {
        try await backend.execute("TRUNCATE tasks")
        return try await withFolder { folder in
            let transport = CountingTransport(PlatformTransport.http())
            let client = try await BenchClient.make(transport, folder: folder, url: backend.url, key: backend.anonKey)
            try await client.setAccessToken(backend.token(subject: BenchRows.id(0)))
            try await client.disableNetwork()
            try await client.engine().context.owners.handle().store.relaxDurability()
            if isMixed {
                try await queueMixed(client, writes)
            } else {
                try await client.from("tasks").insert((0..<writes).map { NewTask($0) })
            }
            let requestsBefore = transport.count
            let elapsed = try await time { try await drain(client) }
            let delivered = writes - (try await client.outboxDepth())
            let requests = transport.count - requestsBefore
            await client.close()
            let name = "drain, \(writes) \(isMixed ? "mixed writes" : "inserts"), \(delay) ms round trip"
            return [
                Figure(
                    name, Double(delivered) / elapsed.seconds, .perSecond,
                    goal: !isMixed && delay == 50 ? .atLeast(2_000) : nil),
                Figure("\(name), requests", Double(requests), .count),
                Figure("\(name), delivered", Double(delivered), .count),
            ]
        }
    }

    /// Waits until the queue is empty, at most until the limit.
    private static func drain(_ client: KizunaSyncClient) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await client.enableNetwork()
                try await client.sync()
            }
            group.addTask { try await Task.sleep(for: limit) }
            do {
                try await group.next()
            } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
        }
    }

    /// Two of three rows are updated and one is deleted: as many inserts as updates and deletes together.
    private static func queueMixed(_ client: KizunaSyncClient, _ writes: Int) async throws {
        let rows = writes / 2
        try await client.from("tasks").insert((0..<rows).map { NewTask($0) })
        for number in 0..<(writes - rows) {
            if number % 3 == 0 {
                try await client.from("tasks").delete().eq("id", value: BenchRows.id(number)).execute()
            } else {
                try await client.from("tasks").update(["title": "changed \(number)"])
                    .eq("id", value: BenchRows.id(number)).execute()
            }
        }
    }
}
