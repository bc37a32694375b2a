import KizunaCore
import KizunaStore
import Testing

@Suite struct StoreResponseTests {
    @Test func unchangedRowsAreNotWritten() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.store(try scene.response(#"[{"id":"a","n":1},{"id":"b","n":2},{"id":"c","n":3}]"#))
        let log = try WriteLog(scene.path)
        _ = try await store.store(try scene.response(#"[{"id":"a","n":1},{"id":"b","n":2},{"id":"c","n":3}]"#))
        #expect(try log.take() == 0, "the same rows")
        _ = try await store.store(try scene.response(#"[{"id":"c","n":3},{"id":"a","n":1},{"id":"b","n":2}]"#))
        #expect(try log.take() == 0, "the same rows in another order")
        _ = try await store.store(try scene.response(#"[{"id":"c","n":3},{"id":"a","n":9},{"id":"b","n":2}]"#))
        #expect(try log.take() == 1, "one row has changed")
        _ = try await store.store(try scene.response(#"[{"id":"c","n":3},{"id":"d","n":4},{"id":"b","n":2}]"#))
        #expect(try log.take() == 2, "one row went, one came")
        #expect(
            texts(try await store.list(cacheKey: "all", usedAt: day(5)))
                == [#"{"id":"c","n":3}"#, #"{"id":"d","n":4}"#, #"{"id":"b","n":2}"#])
        log.close()
        await store.close()
    }

    /// Counts the rows that are written or removed, as the file itself sees them.
    private struct WriteLog {
        private let raw: RawStore

        init(_ path: String) throws {
            raw = try RawStore(path)
            try raw.execute(
                """
                CREATE TABLE log (x);
                CREATE TRIGGER added AFTER INSERT ON rows BEGIN INSERT INTO log VALUES (1); END;
                CREATE TRIGGER changed AFTER UPDATE ON rows BEGIN INSERT INTO log VALUES (1); END;
                CREATE TRIGGER removed AFTER DELETE ON rows BEGIN INSERT INTO log VALUES (1); END;
                """)
        }

        func take() throws -> Int64 {
            defer { try? raw.execute("DELETE FROM log") }
            return try raw.number("SELECT count(*) FROM log")
        }

        func close() { raw.close() }
    }

    @Test(arguments: [
        #"[]"#, #"[{"id":"a"}]"#, #"[{"id":"a","n":1},{"id":"a","n":2}]"#, #"[{"n":1},{"n":1},{"id":null}]"#,
        #"[{"id":"b"},{"n":0},{"id":"a"},{"id":"b"}]"#, #"[{"id":10},{"id":9},{"id":true}]"#,
    ])
    func anyAnswerComesBackByteForByteInItsOrder(_ rows: String) async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        for before in ["[]", #"[{"id":"a","n":0},{"id":"b"}]"#, rows] {
            _ = try await store.store(try scene.response(before))
            #expect(try await store.store(try scene.response(rows)) == .stored)
            let list = try await store.list(cacheKey: "all", usedAt: day(5))
            #expect(texts(list) == (try json(rows).arrayElements().map(\.text)), "after \(before)")
            #expect(list?.head.isStale == false)
        }
        await store.close()
    }

    @Test func aListGoesFromOneRowToNoneToOne() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        for rows in [#"[{"id":"a"}]"#, "[]", #"[{"id":"a"}]"#, #"[{"id":"b"}]"#, "[]"] {
            _ = try await store.store(try scene.response(rows))
            #expect(
                texts(try await store.list(cacheKey: "all", usedAt: day(5)))
                    == (try json(rows).arrayElements().map(\.text)))
        }
        await store.close()
    }

    @Test func aListThatWasNeverFetchedIsNotAnEmptyOne() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        #expect(try await store.list(cacheKey: "all", usedAt: day(5)) == nil)
        _ = try await store.store(try scene.response("[]"))
        #expect(texts(try await store.list(cacheKey: "all", usedAt: day(5))) == [])
        await store.close()
    }

    @Test func whatIsPublishedIsWhatIsStored() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.store(try scene.response(#"[{"id":"a"},{"id":"b"}]"#))
        let asked = scene.ask()
        _ = try await store.store(try scene.response(#"[{"id":"b"},{"id":"c"},{"id":"a","n":1}]"#, at: asked))
        let stored = try await store.list(cacheKey: "all", usedAt: day(5))
        guard case .replaced(let published, let at) = scene.changes.last?.lists["all"] else {
            Issue.record("no list was published")
            return
        }
        #expect(published == stored)
        #expect(at == asked)
        await store.close()
    }
}
