import Foundation
import KizunaPostgREST

/// A builder that holds only a request.
struct PlainBuilder: OfflinePostgrestFilterBuilder {
    var request: TableRequest

    init(_ table: String = "tasks", schema: String = "public", columns: String = "*") {
        request = TableRequest(schema: schema, table: table, columns: columns)
    }
}

enum Status: String, KizunaFilterValue {
    case open
}

enum Fixed {
    static let uuid = UUID(
        uuid: (0xA0, 0xEE, 0xBC, 0x99, 0x9C, 0x0B, 0x4E, 0xF8, 0xBB, 0x6D, 0x6B, 0xB9, 0xBD, 0x38, 0x0A, 0x11))
    static let date = Date(timeIntervalSince1970: 1_705_392_000.1234)
    static let decimal = Decimal(999) / 100
    static let ids = ["x", "y"]
}

/// Builder calls with their source text.
enum RequestCalls {
    typealias Entry = (source: String, call: @Sendable (PlainBuilder) -> PlainBuilder)

    static var all: [Entry] { filters + others }
}
