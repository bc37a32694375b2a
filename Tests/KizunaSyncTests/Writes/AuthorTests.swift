import Foundation
import KizunaCore
import KizunaStore
import KizunaSync
import Testing

/// Whether a row with the key of an insert was made by this insert, for keys of the app.
@Suite struct AuthorTests {
    private func isAuthor(sent: String, found: String, hasGeneratedKey: Bool = false) throws -> Bool {
        let entry = QueuedMutation(
            id: "m", table: TableID(name: "t"), operation: .insert(row: try RawJSON(parsing: sent)),
            rowKeys: [RowKey(text: "1")], hasGeneratedKey: hasGeneratedKey, createdAt: Date(timeIntervalSince1970: 0))
        return entry.isAuthor(of: try RawJSON(parsing: found))
    }

    @Test(arguments: [
        (#"{"id":1,"n":1.50}"#, #"{"id":1,"n":1.5,"more":true}"#),
        (#"{"id":1,"n":9007199254740993}"#, #"{"id":1,"n":9007199254740993}"#),
        (#"{"id":1,"at":"2024-01-01T00:00:00Z"}"#, #"{"id":1,"at":"2024-01-01T00:00:00+00:00"}"#),
        (#"{"id":1,"j":{"b":1,"a":2}}"#, #"{"id":1,"j":{"a":2,"b":1}}"#),
        (#"{"id":"1"}"#, #"{"id":1}"#),
    ]) func aRowWithEqualValuesIsTheInsertsOwn(sent: String, found: String) throws {
        #expect(try isAuthor(sent: sent, found: found))
    }

    @Test(arguments: [
        (#"{"id":1,"n":1}"#, #"{"id":1,"n":2}"#),
        (#"{"id":1,"n":9007199254740993}"#, #"{"id":1,"n":9007199254740992}"#),
        (#"{"id":1,"title":"mine"}"#, #"{"id":1,"title":"theirs"}"#),
        (#"{"id":1,"done":true}"#, #"{"id":1,"done":false}"#),
        (#"{"id":1,"title":"mine"}"#, #"{"id":1}"#),
    ]) func aRowWithOtherValuesIsNotTheInsertsOwn(sent: String, found: String) throws {
        #expect(try !isAuthor(sent: sent, found: found))
        // Only this insert can have made a row with its client-generated key; a trigger may have changed the row.
        #expect(try isAuthor(sent: sent, found: found, hasGeneratedKey: true))
    }
}
