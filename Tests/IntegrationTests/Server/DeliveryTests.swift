import KizunaCore
import KizunaLocal
import KizunaSync
import Testing

/// Writes that reach a real server, whatever the network does.
@Suite struct DeliveryTests {
    @Test func twoDevicesOfOneUserComeToShowTheSame() async throws {
        try await SharedCluster.withBackend(Schemas.ownNotes) { backend in
            let phone = try await Device(backend, user: Users.ada)
            let laptop = try await Device(backend, user: Users.ada)
            try await phone.notes.insert(Note(id: noteKey(1), title: "phone")).delivered()
            try await laptop.notes.insert(Note(id: noteKey(2), title: "laptop")).delivered()
            try await laptop.notes.update(["title": "both"]).eq("id", value: noteKey(1)).execute().delivered()
            let wanted = [Note(id: noteKey(1), title: "both"), Note(id: noteKey(2), title: "laptop")]
            #expect(try await phone.pull() == wanted)
            #expect(try await laptop.pull() == wanted)
            await phone.client.close()
            await laptop.client.close()
        }
    }

    @Test func theNetworkGoesAndComesBack() async throws {
        try await SharedCluster.withBackend(Schemas.notes) { backend in
            let device = try await Device(backend)
            _ = try await device.pull()
            backend.control.isNetworkOn = false
            var receipts: [WriteReceipt] = []
            for number in 1...5 {
                receipts.append(try await device.notes.insert(Note(id: noteKey(number), title: "n\(number)")))
            }
            #expect(try await device.shown().count == 5)
            await backend.control.requests { $0.contains { $0.method == "POST" && $0.outcome == .cut } }
            backend.control.isNetworkOn = true
            try await device.client.enableNetwork()
            for receipt in receipts { try await receipt.delivered() }
            #expect(try await device.pull().count == 5)
            await device.client.close()
        }
    }

    @Test(arguments: [
        FaultAction.delay(.milliseconds(300)), .dropRequest, .dropAnswer, .cutConnection, .truncateAnswer(bytes: 3),
        .answer(HTTPAnswer(status: 503, headers: [HTTPHeader("Retry-After", "1")])),
        .answer(HTTPAnswer(status: 504, body: Array("<html>gateway time-out</html>".utf8))),
        .answer(HTTPAnswer(status: 429)),
        .answer(HTTPAnswer(status: 403, body: Array("<html>forbidden by a proxy</html>".utf8))),
        .answer(HTTPAnswer(status: 200, body: Array("<html>log in</html>".utf8))),
        .answer(HTTPAnswer(status: 200, body: Array("not JSON".utf8))),
        .answer(HTTPAnswer(status: 302, headers: [HTTPHeader("Location", "/login")])),
        .answer(HTTPAnswer(status: 500, body: Array(#"{"code":"40001","message":"serialization"}"#.utf8))),
    ])
    func oneFaultDelaysAndLosesNothing(_ fault: FaultAction) async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let device = try await Device(backend)
            for method in ["POST", "PATCH"] {
                backend.control.add(FaultRule(fault, method: method, path: "/rest/v1/notes"))
            }
            try await device.notes.insert(Note(id: noteKey(1), title: "first")).delivered()
            try await device.notes.update(["title": "second"]).eq("id", value: noteKey(1)).execute().delivered()
            let rows = try await backend.query("SELECT id, title FROM notes")
            #expect(rows == [["id": noteKey(1), "title": "second"]])
            let inserts = try await backend.query("SELECT id FROM changes WHERE kind = 'INSERT'")
            #expect(inserts.count == 1)
            #expect(try await device.rejected().isEmpty)
            await device.client.close()
        }
    }

    @Test(arguments: [nil, FaultAction.dropRequest, .dropAnswer])
    func anUpdateThatGivesTheRowAnotherKey(_ fault: FaultAction?) async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let device = try await Device(backend)
            try await device.notes.insert(Note(id: noteKey(1), title: "first")).delivered()
            _ = try await device.pull()
            if let fault { backend.control.add(FaultRule(fault, method: "PATCH", path: "/rest/v1/notes")) }
            try await device.client.disableNetwork()
            let move = try await device.notes.update(["id": noteKey(2)]).eq("id", value: noteKey(1)).execute()
            let rename = try await device.notes.update(["title": "second"]).eq("id", value: noteKey(2)).execute()
            #expect(try await device.shown() == [Note(id: noteKey(2), title: "second")])
            try await device.client.enableNetwork()
            #expect(try await move.delivered().decode(as: Note.self).map(\.id) == [noteKey(2)])
            try await rename.delivered()
            let rows = try await backend.query("SELECT id, title FROM notes")
            #expect(rows == [["id": noteKey(2), "title": "second"]])
            #expect(try await device.rejected().isEmpty)
            #expect(try await device.pull() == [Note(id: noteKey(2), title: "second")])
            await device.client.close()
        }
    }

    @Test func aKeyThatIsTakenIsRefusedWhateverBecameOfTheFirstSend() async throws {
        try await SharedCluster.withBackend(CrashScene.schema) { backend in
            let device = try await Device(backend)
            let notes = (1...2).map { Note(id: noteKey($0), title: "n\($0)") }
            try await device.notes.insert(notes).delivered()
            backend.control.add(FaultRule(.dropRequest, method: "PATCH", path: "/rest/v1/notes"))
            let move = try await device.notes.update(["id": noteKey(2)]).eq("id", value: noteKey(1)).execute()
            let error = await #expect(throws: SyncError.self) { try await move.delivered() }
            #expect(error?.server?.code == "23505")
            #expect(try await device.pull() == notes)
            await device.client.close()
        }
    }

    @Test func tooLargeARequestIsSentInParts() async throws {
        try await SharedCluster.withBackend(Schemas.notes, settings: LocalSettings(bodyLimit: 4_000)) { backend in
            let device = try await Device(backend)
            try await device.client.disableNetwork()
            let receipt = try await device.notes.insert(
                (1...100).map { Note(id: noteKey($0), title: String(repeating: "x", count: 60)) })
            try await device.client.enableNetwork()
            try await receipt.delivered()
            #expect(try await backend.query("SELECT id FROM notes").count == 100)
            let responses = backend.control.requests.compactMap(\.status)
            #expect(responses.contains(413))
            #expect(responses.count <= 20)
            await device.client.close()
        }
    }

    @Test func aTableThatMayOnlyBeWrittenTo() async throws {
        let sql = """
            CREATE TABLE notes (id uuid PRIMARY KEY, title text NOT NULL);
            ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
            CREATE POLICY only_insert ON notes FOR INSERT WITH CHECK (true);
            """
        try await SharedCluster.withBackend(sql) { backend in
            let device = try await Device(backend)
            #expect(try await device.notes.insert(["title": "first"]).delivered().rows.isEmpty)
            backend.control.add(FaultRule(.dropAnswer, method: "POST", path: "/rest/v1/notes"))
            #expect(try await device.notes.insert(["title": "second"]).delivered().rows.isEmpty)
            #expect(try await device.rejected().isEmpty)
            let titles = try await backend.query("SELECT title FROM notes ORDER BY id").compactMap { $0["title"] }
            #expect(titles == ["first", "second"])
            await device.client.close()
        }
    }

    @Test func rowsWithoutAKeyAreShownAndAddedOnce() async throws {
        try await SharedCluster.withBackend("CREATE TABLE notes (title text NOT NULL);") { backend in
            let device = try await Device(backend) { $0.tables = [KizunaTable("notes", generatesKeys: false)] }
            try await device.notes.insert(["title": "kept"]).delivered()
            backend.control.add(FaultRule(.dropAnswer, method: "POST", path: "/rest/v1/notes"))
            let lost = try await device.notes.insert(["title": "lost"])
            let error = await #expect(throws: SyncError.self) { try await lost.delivered() }
            #expect(error?.server?.code == ServerFailure.outcomeUnknownCode)
            let shown = try await device.notes.select("title", as: [[String: String]].self).execute().result
            #expect(shown?.count == 2)
            #expect(try await backend.query("SELECT title FROM notes").count == 2)
            await device.client.close()
        }
    }
}
