import KizunaCore
import KizunaLocal
import KizunaSync
import Testing

/// What a write's answer of a real server does to the receipt and to the lists on the device.
@Suite struct AnsweredWriteTests {
    private static let texts = "CREATE TABLE notes (id text PRIMARY KEY, title text NOT NULL);"

    struct Titled: Codable, Sendable, Equatable { var title: String }

    @Test(arguments: [
        "CREATE TABLE notes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text NOT NULL);",
        "CREATE TABLE notes (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text NOT NULL);",
    ])
    func rowsWhoseKeysTheServerMakesAreTold(_ sql: String) async throws {
        try await SharedCluster.withBackend(sql) { backend in
            let device = try await Device(backend) { $0.tables = [KizunaTable("notes", generatesKeys: false)] }
            let titles = ["a", "b", "c"].map { Titled(title: $0) }
            let receipt = try await device.notes.insert(titles)
            #expect(try await receipt.delivered().decode(as: Titled.self) == titles)
            #expect(backend.control.requests.count { $0.method == "POST" } == 1)
            let second = try device.client.receipt(mutationID: receipt.mutationIDs[1])
            #expect(try await second.delivered().decode(as: Titled.self) == [titles[1]])
            await device.client.close()
        }
    }

    @Test func aDeleteOfSeveralKeysTakesWhatItDeletedFromTheLists() async throws {
        try await SharedCluster.withBackend(Self.texts) { backend in
            let device = try await Device(backend)
            try await device.notes.insert(["a", "b", "c", "d"].map { Note(id: $0, title: $0) }).delivered()
            #expect(try await device.pull().count == 4)
            // One of them changes so that the delete does not mean it any more, another is gone before.
            _ = try await backend.query("UPDATE notes SET title = 'changed' WHERE id = 'b'")
            _ = try await backend.query("DELETE FROM notes WHERE id = 'c'")
            try await device.notes.delete().in("id", values: ["a", "b", "c"]).neq("title", value: "changed").execute()
                .delivered()
            #expect(try await device.shown().map(\.id) == ["b", "d"])
            let none = try await device.notes.delete().in("id", values: ["b", "x"]).neq("title", value: "changed")
                .execute()
            let error = await #expect(throws: SyncError.self) { try await none.delivered() }
            #expect(error?.server?.code == ServerFailure.noRowMatchedCode)
            try await device.notes.delete().in("id", values: ["x", "y"]).execute().delivered()
            await device.client.close()
        }
    }

    @Test func aDeleteIsNotTakenForDoneWhileItsRowCannotBeLookedFor() async throws {
        let sql = """
            CREATE TABLE notes (id text PRIMARY KEY, title text NOT NULL);
            ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
            CREATE POLICY reading ON notes FOR SELECT USING (true);
            INSERT INTO notes VALUES ('a', 'kept');
            """
        try await SharedCluster.withBackend(sql) { backend in
            let device = try await Device(backend)
            let busy = FaultAction.answer(HTTPAnswer(status: 504))
            backend.control.add(FaultRule(busy, method: "GET", path: "/rest/v1/notes"))
            let delete = try await device.notes.delete().eq("id", value: "a").execute()
            let error = await #expect(throws: SyncError.self) { try await delete.delivered() }
            #expect(error?.server?.code == ServerFailure.noRowMatchedCode)
            #expect(try await device.rejected().first?.serverRow != nil)
            await device.client.close()
        }
    }

    @Test func aTableThatMayNotBeReadHoldsNothingUp() async throws {
        let sql = """
            CREATE TABLE notes (id uuid PRIMARY KEY, title text NOT NULL);
            REVOKE ALL ON notes FROM anon, authenticated;
            GRANT INSERT ON notes TO anon, authenticated;
            """
        for user in [nil, Users.ada] {
            try await SharedCluster.withBackend(sql) { backend in
                let device = try await Device(backend, user: user)
                #expect(try await device.notes.insert(["title": "first"]).delivered().rows.isEmpty)
                backend.control.add(FaultRule(.dropAnswer, method: "POST", path: "/rest/v1/notes"))
                #expect(try await device.notes.insert(["title": "second"]).delivered().rows.isEmpty)
                // Whose row it is that has this key cannot be told.
                backend.control.add(FaultRule(.dropAnswer, method: "POST", path: "/rest/v1/notes"))
                let own = try await device.notes.insert(["id": noteKey(1), "title": "third"])
                let error = await #expect(throws: SyncError.self) { try await own.delivered() }
                #expect(error?.server?.code == "23505")
                #expect(try await backend.query("SELECT title FROM notes").count == 3)
                await device.client.close()
            }
        }
    }

    @Test(arguments: ["id,title,shout", "*,shout", "id,title,loud:shout"])
    func aComputedColumnOutlivesAWrite(_ columns: String) async throws {
        let sql = """
            CREATE TABLE notes (id text PRIMARY KEY, title text NOT NULL);
            CREATE FUNCTION shout(notes) RETURNS text LANGUAGE sql STABLE AS 'SELECT upper($1.title)';
            """
        try await SharedCluster.withBackend(sql) { backend in
            let device = try await Device(backend)
            try await device.notes.insert([Note(id: "a", title: "one"), Note(id: "b", title: "two")]).delivered()
            let stored = device.notes.select(columns, as: [[String: String]].self, readStrategy: .cacheOnly).order("id")
            let fetched = device.notes.select(columns, as: [[String: String]].self, readStrategy: .networkOnly)
                .order("id")
            let name = columns.contains("loud") ? "loud" : "shout"
            _ = try await fetched.execute()
            try await device.notes.update(["title": "new"]).eq("id", value: "a").execute().delivered()
            try await device.notes.insert(Note(id: "c", title: "three")).delivered()
            // What the function says now, only a read can tell.
            let shown = try await stored.execute().result
            #expect(
                shown == [
                    ["id": "a", "title": "new", name: "ONE"], ["id": "b", "title": "two", name: "TWO"],
                ])
            for try await live in device.notes.selectAsSequence(columns, as: [[String: String]].self).order("id")
            where !live.isFromCache {
                #expect(live.result?.map { $0[name] } == ["NEW", "TWO", "THREE"])
                break
            }
            await device.client.close()
        }
    }
}
