import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization
import Testing

/// Many rows are decoded together; what one of them does must not show in the others.
@Suite struct DecodingTests {
    private static func row(_ number: Int, _ title: String? = nil) throws -> RawJSON {
        let title = title.map { #""title":"\#($0)","# } ?? ""
        return try RawJSON(parsing: #"{"id":"q\#(number)",\#(title)"done":false}"#)
    }

    @Test func aQueuedRowThatDoesNotDecodeIsLeftOutAloneAndToldOnce() throws {
        try ReadScene.run { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            scene.transport.isOnline = false
            try await scene.client.from("tasks").insert(
                [Self.row(1, "three"), Self.row(2), Self.row(3, "four"), Self.row(4), Self.row(5, "five")])
            await scene.simulation.settle()
            #expect(watch.lines.last == "[one, two, three, four, five] server @0.05 pending idle")
            try await scene.client.from("tasks").insert([Self.row(6, "six"), Self.row(7, "seven")])
            await scene.simulation.settle()
            #expect(watch.lines.last == "[one, two, three, four, five, six, seven] server @0.05 pending idle")
            #expect(watch.end == nil)
            #expect(scene.simulation.log.lines.count { $0.message.contains("left out") } == 2)
        }
    }

    @Test func aStoredRowThatDoesNotDecodeAmongManyFailsTheReader() throws {
        var options = ReadScene.Options()
        let rows = (1...300).map { #"{"id":"k\#($0)","title":"t\#($0)","done":\#($0 == 250 ? "3" : "true")}"# }
        options.rows = "[\(rows.joined(separator: ","))]"
        try ReadScene.run(options) { scene in
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.end == "decoding")
        }
    }

    /// Many lists show a row; it is decoded for one of them.
    @Test func aRowThatManyListsShowIsDecodedOnce() throws {
        try ReadScene.run { scene in
            let lists = (1...10).map { limit in
                Watch(
                    scene.client.from("tasks").selectAsSequence(as: [CountedTask].self).limit(10 * limit),
                    in: scene.simulation)
            }
            await scene.simulation.advance(by: .seconds(1))
            scene.transport.isOnline = false
            let before = CountedTask.decoded
            try await scene.client.from("tasks").insert([Self.row(1, "three"), Self.row(2, "four")])
            await scene.simulation.settle()
            #expect(lists.allSatisfy { $0.emissions.last?.result?.map(\.title) == ["one", "two", "three", "four"] })
            #expect(CountedTask.decoded - before == 2)
        }
    }

    @Test func rowsKeptForOthersAreTheLatestAndGoWithTheirOwner() throws {
        let kept = DecodedRowsByType()
        let rows = kept.rows(of: Int.self)
        #expect(rows === kept.rows(of: Int.self))
        let json = try (0..<1_500).map { try RawJSON(parsing: #"{"n":\#($0)}"#) }
        for (number, row) in json.enumerated() { rows.keep([(row, number)]) }
        let found = rows.elements(of: json)
        #expect(found.compactMap { $0 } == Array(476..<1_500))
        #expect(found[1_400] == 1_400)
        kept.forget()
        #expect(rows.elements(of: json).allSatisfy { $0 == nil })
    }
}

/// A row that counts how often one was decoded. Used by one test alone.
private struct CountedTask: Decodable, Sendable {
    private static let counter = Mutex(0)
    static var decoded: Int { counter.withLock { $0 } }

    let title: String

    private enum Column: String, CodingKey {
        case title
    }

    init(from decoder: any Decoder) throws {
        Self.counter.withLock { $0 += 1 }
        title = try decoder.container(keyedBy: Column.self).decode(String.self, forKey: .title)
    }
}
