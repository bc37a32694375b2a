import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// Answers that are not what the protocol promises. Whatever comes, what is stored stays as it was.
@Suite struct LyingResponseTests {
    private static let html = ScriptedResponse.respond(
        WireResponse(
            status: 200, headers: ["content-type": "text/html"], body: Array("<html>Sign in to the hotel</html>".utf8)))

    /// What a proxy or a database without an encoding makes of `é`.
    private static let latin = ScriptedResponse.respond(
        WireResponse(
            status: 200, headers: ["content-type": "application/json"],
            body: Array(#"[{"id":"x","title":"caf"#.utf8) + [0xE9] + Array(#""}]"#.utf8)))

    private static let lies: [(String, ScriptedResponse)] = [
        ("an error body", .json(#"{"code":"XX000","message":"broken"}"#)), ("a page of a proxy", html),
        ("half an answer", .json(#"[{"id":"x","title":"th"#)), ("nothing", .json("")), ("null", .json("null")),
        ("a number", .json("17")), ("numbers", .json("[1,2]")), ("two answers", .json("[] []")),
        ("no content", .respond(WireResponse(status: 204))), ("bytes that are no text", latin),
    ]

    @Test(arguments: lies.map(\.0))
    func aLieIsAFailureAndHarmsNothing(_ name: String) throws {
        let response = try #require(Self.lies.first { $0.0 == name }?.1)
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.transport.enqueue(response, response, response, response, response, response)
            let watch = scene.watch(scene.tasks())
            let networkFirst = scene.watch(scene.tasks(.networkFirstThenCache))
            #expect(await scene.outcome(.networkFirst) == "malformed_answer")
            await scene.simulation.advance(by: .seconds(4))
            #expect(
                watch.lines == [
                    "[one, two] cache @0.05 refreshing", "[one, two] cache @0.05 stalled(malformed_answer)",
                ])
            #expect(networkFirst.end == "malformed_answer")
            #expect(scene.transport.unusedResponseCount == 0)
            await scene.simulation.advance(by: .seconds(10))
            #expect(watch.lines.last?.hasSuffix("idle") == true)
        }
    }

    /// What the transport says of a body that ends early, and of one of a gigabyte.
    @Test(arguments: [
        WireFailure(.outcomeUnknown, "the connection ended before the answer was whole"),
        WireFailure(.unusable, "the answer is larger than 268435456 bytes"),
    ])
    func anAnswerThatEndsEarlyOrIsTooLargeIsAFailureAndHarmsNothing(_ failure: WireFailure) throws {
        try ReadScene.run { scene in
            try await scene.warmUp()
            scene.transport.enqueue(.fail(failure), .fail(failure))
            let watch = scene.watch(scene.tasks())
            await scene.simulation.settle()
            #expect(watch.lines == ["[one, two] cache @0.05 refreshing"])
            do {
                _ = try await scene.once(.networkOnly).execute()
                Issue.record("there was no whole answer")
            } catch let error as SyncError {
                #expect(error.code == .connectivity)
                #expect(error.message.contains(failure.reason))
                #expect(!error.message.contains("URL"))
            }
            await scene.simulation.advance(by: .seconds(1))
            #expect(watch.lines.dropFirst() == ["[one, two] server @0.4 idle"])
        }
    }

    @Test func theErrorSaysWhatCameWithoutQuotingIt() throws {
        try ReadScene.run { scene in
            scene.transport.enqueue(Self.html)
            do {
                _ = try await scene.once(.networkOnly).execute()
                Issue.record("an HTML page was taken for rows")
            } catch let error as SyncError {
                #expect(error.code == .malformedResponse)
                #expect(error.message.contains("HTML"))
                #expect(!error.description.contains("hotel"))
            }
        }
    }

    @Test func rowsWithoutAKeyAreShownAsTheyCame() throws {
        try ReadScene.run { scene in
            let read = scene.client.from("tasks").select("title", as: [[String: String]].self)
            scene.transport.enqueue(.json(#"[{"title":"x"},{"title":"y"},{"title":"x"}]"#))
            let snapshot = try await read.execute()
            #expect(snapshot.result == [["title": "x"], ["title": "y"], ["title": "x"]])
            scene.transport.isOnline = false
            let cached = try await read.execute()
            #expect(cached.result == snapshot.result)
        }
    }

    @Test func aKeyThatComesTwiceIsShownTwiceAsTheServerSaidAndStaysSo() throws {
        try ReadScene.run { scene in
            let twice =
                #"[{"id":"a","title":"one","done":false},{"id":"a","title":"again","done":true},{"id":"b","title":"two","done":false}]"#
            for _ in 1...3 {
                scene.transport.enqueue(.json(twice))
                #expect(await scene.outcome(.networkOnly).hasPrefix("[one, again, two] server"))
                #expect(await scene.outcome(.cacheOnly).hasPrefix("[one, again, two] cache"))
            }
            #expect(await scene.outcome(.networkOnly).hasPrefix("[one, two] server"))
            #expect(await scene.outcome(.cacheOnly).hasPrefix("[one, two] cache"))
        }
    }

    @Test func aRowThatDoesNotDecodeFailsTheReaderAndKeepsTheBytes() throws {
        try ReadScene.run { scene in
            scene.transport.enqueue(.json(#"[{"id":"a","title":"one","done":"perhaps"}]"#))
            #expect(await scene.outcome(.networkOnly) == "decoding")
            let raw = try await scene.client.from("tasks").select(as: RawJSONRows.self, readStrategy: .cacheOnly)
                .execute()
            #expect(raw.result?.rows.map(\.title) == ["one"])
        }
    }

    @Test func atATransportFailureNothingIsRepeatedWithinAnAttempt() throws {
        try ReadScene.run { scene in
            scene.transport.plant(.dropBeforeHandling, .dropResponse, .refuseConnection)
            let watch = scene.watch(scene.tasks())
            await scene.simulation.advance(by: .seconds(4))
            // The second answer is lost after 50 ms.
            #expect(scene.readTimes == [0, 0.3, 1.25, 3.65])
            #expect(watch.lines == ["nil cache @never refreshing", "[one, two] server @3.7 idle"])
        }
    }

    private struct RawJSONRows: Decodable, Sendable {
        struct Row: Decodable, Sendable { var title: String }
        var rows: [Row]

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            rows = []
            while !list.isAtEnd { rows.append(try list.decode(Row.self)) }
        }
    }
}
