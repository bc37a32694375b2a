import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// Every cell of the matrix of one-shot reads (docs/spec/reads.md, One-shot reads): what comes, after how long, and how
/// many requests it took.
@Suite struct OneShotCellTests {
    enum Condition: String, CaseIterable {
        case onlineWarm, onlineCold, offlineWarm, offlineCold, knownDownWarm, knownDownCold, disabledWarm, disabledCold
        case restoringWarm, restoringCold, clientErrorWarm, serverErrorWarm, serverErrorCold, shapeOnline, shapeOffline

        var isWarm: Bool { rawValue.hasSuffix("Warm") || self == .shapeOffline || self == .shapeOnline }
    }

    /// A cell, named as a test is.
    struct Cell: CustomTestStringConvertible {
        let condition: Condition
        let strategy: ReadStrategy
        var testDescription: String { "\(condition) × \(strategy)" }

        static let all = Condition.allCases.flatMap { condition in
            ReadStrategy.allCases.map { Cell(condition: condition, strategy: $0) }
        }
    }

    private static let server = "[one, two] server, 0.05 s, 1 sent"
    private static let cache = "[one, two] cache, 0.0 s, 0 sent"
    private static let unreachable = "connectivity, 0.0 s, 1 sent"
    private static let miss = "cache_miss, 0.0 s, 0 sent"

    private static let strategies = [ReadStrategy.networkOnly, .networkFirst, .cacheFirst, .cacheOnly]

    /// By the strategies in that order.
    private static let table: [Condition: [String]] = [
        .onlineWarm: [server, server, cache, cache],
        .onlineCold: [server, server, server, miss],
        .offlineWarm: [unreachable, "[one, two] cache, 0.0 s, 1 sent", cache, cache],
        .offlineCold: [unreachable, unreachable, unreachable, miss],
        .knownDownWarm: [unreachable, cache, cache, cache],
        .knownDownCold: [unreachable, unreachable, unreachable, miss],
        .disabledWarm: ["network_disabled, 0.0 s, 0 sent", cache, cache, cache],
        .disabledCold: [
            "network_disabled, 0.0 s, 0 sent", "network_disabled, 0.0 s, 0 sent", "network_disabled, 0.0 s, 0 sent",
            miss,
        ],
        .restoringWarm: [
            "session_not_settled, 10.0 s, 0 sent", "[one, two] cache, 10.0 s, 0 sent", cache, cache,
        ],
        .restoringCold: [
            "session_not_settled, 10.0 s, 0 sent", "session_not_settled, 10.0 s, 0 sent",
            "session_not_settled, 10.0 s, 0 sent", miss,
        ],
        .clientErrorWarm: ["server, 0.05 s, 1 sent", "server, 0.05 s, 1 sent", cache, cache],
        .serverErrorWarm: ["server, 0.05 s, 1 sent", "server, 0.05 s, 1 sent", cache, cache],
        .serverErrorCold: ["server, 0.05 s, 1 sent", "server, 0.05 s, 1 sent", "server, 0.05 s, 1 sent", miss],
        .shapeOnline: ["one, 0.05 s, 1 sent", "one, 0.05 s, 1 sent", "one, 0.05 s, 1 sent", miss],
        .shapeOffline: [unreachable, unreachable, unreachable, miss],
    ]

    @Test(arguments: Cell.all)
    func theCellIsAsTheTableSays(_ cell: Cell) throws {
        let row = try #require(Self.table[cell.condition])
        let column = try #require(Self.strategies.firstIndex(of: cell.strategy))
        var options = ReadScene.Options()
        options.initialSession = .signedIn(userID: "alice", accessToken: TestToken.make(userID: "alice"))
        try ReadScene.run(options) { scene in
            if cell.condition.isWarm { try await scene.warmUp() }
            try await Self.arrange(cell.condition, in: scene)
            let (began, sent) = (scene.simulation.elapsed, scene.readTimes.count)
            let what = await Self.outcome(cell, in: scene)
            let took = (scene.simulation.elapsed - began).seconds
            #expect("\(what), \(took) s, \(scene.readTimes.count - sent) sent" == row[column])
        }
    }

    private static func arrange(_ condition: Condition, in scene: ReadScene) async throws {
        switch condition {
        case .onlineWarm, .onlineCold, .shapeOnline: break
        case .offlineWarm, .offlineCold, .shapeOffline: scene.transport.isOnline = false
        case .knownDownWarm, .knownDownCold:
            scene.path.isSatisfied = false
            scene.transport.isOnline = false
        case .disabledWarm, .disabledCold: try await scene.client.disableNetwork()
        case .restoringWarm, .restoringCold: scene.session.current = .restoring
        case .clientErrorWarm: scene.server.outage = SimulatedRejection(403, code: "42501", message: "denied")
        case .serverErrorWarm, .serverErrorCold:
            scene.server.outage = SimulatedRejection(500, code: "XX000", message: "broken")
        }
        await scene.simulation.settle()
    }

    private static func outcome(_ cell: Cell, in scene: ReadScene) async -> String {
        switch cell.condition {
        case .shapeOnline, .shapeOffline:
            let single = scene.client.from("tasks").select(as: TaskRow.self, readStrategy: cell.strategy)
                .eq("id", value: "a").single()
            do {
                return try await single.execute().result?.title ?? "nothing"
            } catch {
                return (error as? SyncError)?.code.rawValue ?? "\(type(of: error))"
            }
        default:
            return await scene.outcome(cell.strategy).split(separator: " @")[0].description
        }
    }
}
