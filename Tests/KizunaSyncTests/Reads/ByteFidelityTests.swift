import KizunaCore
import KizunaSync
import KizunaSyncTesting
import TestSupport
import Testing

/// What the server wrote is what a reader gets, byte for byte: integers beyond 2^53, the scale of a `numeric`, the order
/// of a document's keys, characters beyond the first plane, however they are spelled.
@Suite struct ByteFidelityTests {
    private static let rows = [
        #"{"id":"a","big":9007199254740993,"least":-9223372036854775808,"dec":1.50,"long":123456789012345678901234567890.1230}"#,
        #"{"id":"b","doc":{"b": 1, "a": [1.0, 1e2, null], "b\u0062": {}},"text":"😀 é e\#u{301} 𝔘","escaped":"\ud83d\ude00\/"}"#,
    ]
    private static let response = "[\(rows.joined(separator: ","))]"

    private static func texts(_ client: KizunaSyncClient, _ strategy: ReadStrategy) async throws -> [String] {
        let read = client.from("odd").select(as: [RawJSON].self, readStrategy: strategy)
        return try await read.execute().result?.map(\.text) ?? []
    }

    @Test func anAnswerIsReadAsItCameAlsoFromTheStoreOpenedAgain() throws {
        try Simulation.run { simulation in
            let folder = try ScratchFolder()
            let transport = ScriptedTransport(simulation) { _ in .json(Self.response) }
            let client = try await simulation.makeClient(transport, folder: folder.url)
            let answered = try await Self.texts(client, .networkOnly)
            #expect(answered == Self.rows)
            await client.close()
            let later = try await simulation.makeClient(transport, folder: folder.url)
            let stored = try await Self.texts(later, .cacheOnly)
            #expect(stored == Self.rows)
            await later.close()
        }
    }

    @Test func aQueuedChangeLeavesTheOtherColumnsAsTheyCame() throws {
        try Simulation.run { simulation in
            let transport = ScriptedTransport(simulation) { _ in .json(Self.response) }
            let client = try await simulation.makeClient(transport)
            let watch = Watch(client.from("odd").selectAsSequence(as: [RawJSON].self), in: simulation)
            await simulation.advance(by: .seconds(1))
            #expect(watch.emissions.last?.result?.map(\.text) == Self.rows)
            transport.isOnline = false
            try await client.from("odd").update(["text": "new"]).eq("id", value: "b").execute()
            await simulation.settle()
            let changed = Self.rows[1].replacing(#/"text":"[^"]*"/#, with: #""text":"new""#)
            #expect(watch.emissions.last?.result?.map(\.text) == [Self.rows[0], changed])
        }
    }
}
