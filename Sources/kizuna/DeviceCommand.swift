internal import KizunaCore
internal import Foundation
internal import KizunaSync
internal import Synchronization

/// `kizuna device`: one app on one device. It prints its list and its queue, and reads commands as lines of JSON.
///
/// Its settings are environment variables, so that no token appears in a process list.
enum DeviceCommand {
    static func run(arguments: [String]) async -> Int32 {
        let variables = ProcessInfo.processInfo.environment
        guard let url = variables["KIZUNA_URL"].flatMap(URL.init(string:)), let key = variables["KIZUNA_KEY"],
            let token = variables["KIZUNA_TOKEN"], let folder = variables["KIZUNA_STORE"]
        else {
            FileHandle.standardError.write(Data("device: KIZUNA_URL, _KEY, _TOKEN and _STORE must be set\n".utf8))
            return 64
        }
        let client = KizunaSyncClient()
        do {
            try await client.create(
                KizunaSyncConfiguration(
                    url: url, publishableKey: key, dataDirectory: URL(fileURLWithPath: folder),
                    tables: [KizunaTable("tasks", columns: ["id": .uuid, "done": .bool, "title": .text])]))
            if arguments.contains("--offline") { try await client.disableNetwork() }
            try await client.setAccessToken(token)
            return try await live(client)
        } catch {
            write(.failed(command: "create", reason: "\(error)"))
            return 1
        }
    }

    /// Observes the list, the queue and the rejections, and performs commands until `quit`.
    private static func live(_ client: KizunaSyncClient) async throws -> Int32 {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let tasks = client.from("tasks").selectAsSequence(as: [DemoTask].self).order("created_at")
                do {
                    for try await snapshot in tasks {
                        write(.shows(tasks: snapshot.result, refresh: word(snapshot.refresh)))
                    }
                } catch {
                    write(.failed(command: "show the list", reason: "\(error)"))
                    throw error
                }
            }
            group.addTask {
                for try await mutations in client.pendingMutations(table: "tasks") {
                    write(.pending(ids: mutations.flatMap(\.rowIDs)))
                }
            }
            group.addTask {
                for try await rejected in client.rejectedMutations {
                    write(
                        .rejected(
                            ids: rejected.flatMap(\.mutation.rowIDs),
                            reasons: rejected.map { "\($0.failure.code ?? "-") \($0.failure.constraint ?? "-")" }))
                }
            }
            write(.ready)
            for await command in commands() {
                guard command != .quit else { break }
                await perform(command, with: client)
            }
            await client.close()
            try await group.waitForAll()
        }
        return 0
    }

    private static func perform(_ command: DeviceCommandLine, with client: KizunaSyncClient) async {
        let name = "\(command)"
        do {
            switch command {
            case .goOffline: try await client.disableNetwork()
            case .goOnline: try await client.enableNetwork()
            case .add(let title):
                let receipt = try await client.from("tasks").insert(NewTask(title: title))
                return write(.done(command: name, detail: receipt.rowIDs.joined()))
            case .setDone(let id):
                try await client.from("tasks").update(["done": true]).eq("id", value: id).execute()
            case .pull:
                _ = try await client.from("tasks").select(as: [DemoTask].self, readStrategy: .networkOnly)
                    .order("created_at").execute()
            case .quit: break
            }
            write(.done(command: name, detail: ""))
        } catch {
            write(.failed(command: name, reason: "\(error)"))
        }
    }

    /// A new row has the columns of the list; the server sets the others.
    private struct NewTask: Encodable, Sendable {
        let title: String
        var done = false
    }

    private static func word(_ state: RefreshState) -> String {
        switch state {
        case .idle: "idle"
        case .refreshing: "refreshing"
        case .paused: "paused"
        case .stalled: "stalled"
        }
    }

    private static func commands() -> AsyncStream<DeviceCommandLine> {
        AsyncStream { continuation in
            let thread = Thread {
                while let line = readLine() {
                    if let command = try? JSONDecoder().decode(DeviceCommandLine.self, from: Data(line.utf8)) {
                        continuation.yield(command)
                    }
                }
                continuation.finish()
            }
            thread.start()
        }
    }

    private static let output = Mutex(FileHandle.standardOutput)

    private static func write(_ line: DeviceLine) {
        guard let data = try? JSONEncoder().encode(line) else { return }
        output.withLock { $0.write(data + Data("\n".utf8)) }
    }
}
