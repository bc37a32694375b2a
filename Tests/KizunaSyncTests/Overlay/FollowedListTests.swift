import KizunaCore
import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting
import Testing

/// Random keyed and unkeyed writes with deliveries and rejections in between. A live read that follows the changes shows the
/// same rows as a new read, and in the end the rows of the server.
@Suite struct FollowedListTests {
    private static let lists = ["all", "open", "done", "t1", "limited"]

    @Test(arguments: 1...16)
    func aLiveReadShowsTheSameRowsAsANewRead(seed: UInt64) throws {
        var options = ReadScene.Options()
        let rows = (0..<6).map { #"{"id":"k\#($0)","title":"t\#($0 % 3)","done":\#($0 % 2 == 0)}"# }
        options.rows = "[\(rows.joined(separator: ","))]"
        try ReadScene.run(options, seed: seed) { scene in
            var random = SeededRandom(seed: seed)
            let table = scene.client.from("tasks")
            let watches = Self.lists.map {
                ($0, scene.watch(Self.list($0, table.selectAsSequence(as: [TaskRow].self))))
            }
            await scene.simulation.advance(by: .seconds(1))
            var done: [String] = []
            for _ in 1...40 {
                done.append(try await Self.step(scene, &random, done.count))
                await scene.simulation.settle()
                for (name, watch) in watches {
                    let read = Self.list(name, table.select(as: [TaskRow].self, readStrategy: .cacheOnly))
                    let (followed, fresh) = (watch.emissions.last, try await read.execute())
                    guard Self.texts(followed) == Self.texts(fresh),
                        followed?.hasPendingMutations == fresh.hasPendingMutations
                    else {
                        Issue.record(
                            "seed \(seed), \(name): \(Self.texts(followed)), not \(Self.texts(fresh)), after \(done)")
                        return
                    }
                }
            }
            try await scene.client.enableNetwork()
            await scene.simulation.advance(by: .seconds(400))
            let response = try await table.select(as: [TaskRow].self, readStrategy: .networkOnly).execute().result ?? []
            for (name, watch) in watches where name != "limited" {
                let wanted = response.filter { row in
                    switch name {
                    case "open": !row.done
                    case "done": row.done
                    case "t1": row.title == "t1"
                    default: true
                    }
                }
                let shown = watch.emissions.last
                #expect(Self.texts(shown) == Set(wanted.map { "\($0)" }), "seed \(seed), \(name), after \(done)")
                #expect(shown?.hasPendingMutations == false && shown?.refresh == .idle, "seed \(seed), \(name)")
            }
        }
    }

    private static func list<Request: OfflinePostgrestFilterBuilder>(_ name: String, _ request: Request) -> Request {
        switch name {
        case "open": request.eq("done", value: false)
        case "done": request.eq("done", value: true)
        case "t1": request.eq("title", value: "t1")
        case "limited": request.order("title").limit(3)
        default: request
        }
    }

    private static func texts(_ snapshot: QuerySnapshot<[TaskRow]>?) -> Set<String> {
        Set((snapshot?.result ?? []).map { "\($0)" })
    }

    /// Takes one random step and returns its description.
    private static func step(
        _ scene: ReadScene, _ random: inout SeededRandom, _ number: Int
    ) async throws -> String {
        let table = scene.client.from("tasks")
        let row = TaskRow(id: "k\(random.next() % 9)", title: "t\(random.next() % 3)", done: random.chance(0.5))
        switch random.next() % 13 {
        case 0, 1:
            try await table.update(["done": row.done]).eq("id", value: row.id).execute()
            return "\(row.id) done=\(row.done)"
        case 2:
            try await table.update(["title": row.title]).eq("id", value: row.id).execute()
            return "\(row.id) title=\(row.title)"
        case 3:
            try await table.update(["done": row.done]).eq("title", value: row.title).execute()
            return "\(row.title) done=\(row.done)"
        case 4:
            try await table.update(["title": row.title]).eq("done", value: row.done).execute()
            return "\(row.done) title=\(row.title)"
        case 5:
            try await table.delete().eq("id", value: row.id).execute()
            return "delete \(row.id)"
        case 6:
            try await table.delete().eq("title", value: row.title).eq("done", value: row.done).execute()
            return "delete \(row.title) \(row.done)"
        case 7:
            try await table.insert(row)
            return "insert \(row)"
        case 8:
            try await table.upsert(row)
            return "upsert \(row)"
        case 9:
            try await table.update(["id": "x\(number)"]).eq("id", value: row.id).execute()
            return "\(row.id) id=x\(number)"
        case 10:
            try await scene.client.disableNetwork()
            return "off"
        case 11:
            try await scene.client.enableNetwork()
            return "on"
        default:
            await scene.simulation.advance(by: .milliseconds(Int(random.next() % 200)))
            return "wait"
        }
    }
}
