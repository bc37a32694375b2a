/// Generated rows, the same in every run.
enum BenchRows {
    static let table = "tasks"

    /// The key of the row of this number: a UUID.
    static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        // Multiplied so that keys are not in order, as in a real table.
        let mixed = String(UInt32(truncatingIfNeeded: number &* 2_654_435_761), radix: 16)
        return padded(mixed, 8) + "-0000-4000-8000-" + padded(digits, 12)
    }

    /// A row in a response of PostgREST; about 230 bytes.
    static func row(_ number: Int, title: String? = nil, list: Int = 0) -> String {
        #"{"id":"\#(id(number))","list_id":"\#(id(1_000_000 + list))","title":"\#(title ?? Self.title(number))","#
            + #""note":null,"position":\#(number),"done":false,"#
            + #""created_at":"2025-11-03T10:15:30.123456+00:00","updated_at":"2025-11-03T10:15:30.123456+00:00"}"#
    }

    static func title(_ number: Int) -> String { "task number \(number) of the list" }

    /// A response with rows.
    static func response(_ numbers: Range<Int>, list: Int = 0, title: (Int) -> String? = { _ in nil }) -> [UInt8] {
        var body: [UInt8] = [UInt8(ascii: "[")]
        body.reserveCapacity(numbers.count * 270)
        for number in numbers {
            if number > numbers.lowerBound { body.append(UInt8(ascii: ",")) }
            body += row(number, title: title(number), list: list).utf8
        }
        body.append(UInt8(ascii: "]"))
        return body
    }

    private static func padded(_ text: String, _ length: Int) -> String {
        String(repeating: "0", count: max(0, length - text.utf8.count)) + text
    }
}

/// A row as an app decodes it.
struct TaskRow: Codable, Sendable {
    var id: String
    var list_id: String
    var title: String
    var position: Int
    var done: Bool
    var created_at: String
}

/// A row as an app inserts it.
struct NewTask: Codable, Sendable {
    var id: String?
    var list_id: String
    var title: String
    var position: Int
    var done = false

    init(_ number: Int, list: Int = 0) {
        id = BenchRows.id(number)
        list_id = BenchRows.id(1_000_000 + list)
        title = BenchRows.title(number)
        position = number
    }
}
