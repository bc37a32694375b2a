import Foundation
import KizunaCore
import KizunaLocal
import KizunaSync
import Testing

/// Keys and key columns that are not a UUID called `id`, against a real server.
@Suite struct KeyTests {
    /// Swift writes a UUID in capitals, and a column of texts keeps them.
    @Test func textKeysInCapitalsAreDeletedTogether() async throws {
        try await SharedCluster.withBackend("CREATE TABLE notes (id text PRIMARY KEY, title text NOT NULL);") {
            backend in
            let device = try await Device(backend)
            let keys = (1...4).map { noteKey($0).uppercased() }
            try await device.notes.insert(keys.map { Note(id: $0, title: "t") }).delivered()
            try await device.client.disableNetwork()
            var receipts: [WriteReceipt] = []
            for key in keys[1...] {
                receipts.append(try await device.notes.delete().eq("id", value: key).execute())
            }
            try await device.client.enableNetwork()
            for receipt in receipts { #expect(try await receipt.delivered().rows.count == 1) }
            #expect(try await backend.query("SELECT id FROM notes") == [["id": keys[0]]])
            #expect(backend.control.requests.count { $0.method == "DELETE" } == 1)
            await device.client.close()
        }
    }

    @Test(arguments: ["my id", "a.b", "a-b", "größe", "a,b", "a:b", "a(b)", "a\"b", "Id"])
    func keyColumnsWhoseNamesNeedQuotes(_ name: String) async throws {
        let inSQL = "\"\(name.replacing("\"", with: "\"\""))\""
        let inCalls = "\"\(name.replacing("\"", with: "\\\""))\""
        let sql = "CREATE TABLE notes (\(inSQL) text PRIMARY KEY, title text NOT NULL);"
        try await SharedCluster.withBackend(sql) { backend in
            let device = try await Device(backend) { $0.tables = [KizunaTable("notes", primaryKey: [name])] }
            let read = device.notes.select(as: [[String: String]].self, readStrategy: .networkOnly)
            #expect(try await read.execute().result == [])
            // A lost answer makes the row be looked for by its key.
            backend.control.add(FaultRule(.dropAnswer, method: "POST", path: "/rest/v1/notes"))
            try await device.notes.insert([name: "k1", "title": "one"]).delivered()
            try await device.notes.upsert([name: "k1", "title": "two"], onConflict: inCalls).delivered()
            #expect(try await read.execute().result == [[name: "k1", "title": "two"]])
            let gone = try await device.notes.update(["title": "x"]).eq(inCalls, value: "k1").eq("title", value: "one")
                .execute()
            await #expect(throws: SyncError.self) { try await gone.delivered() }
            #expect(try await device.rejected().first?.serverRow != nil)
            try await device.notes.delete().eq(inCalls, value: "k1").execute().delivered()
            #expect(try await backend.query("SELECT * FROM notes").isEmpty)
            await device.client.close()
        }
    }
}
