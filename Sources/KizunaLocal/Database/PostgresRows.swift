internal import CPostgres

/// The rows of one answer of PostgreSQL; every value is text or null.
struct PostgresRows: ~Copyable {
    private let result: OpaquePointer

    init(owning result: OpaquePointer) { self.result = result }

    deinit { PQclear(result) }

    var count: Int { Int(PQntuples(result)) }

    var columns: [String] { (0..<PQnfields(result)).map { String(cString: PQfname(result, $0)) } }

    /// The value's bytes; nil for null.
    func bytes(_ row: Int, _ column: Int) -> [UInt8]? {
        guard PQgetisnull(result, Int32(row), Int32(column)) == 0,
            let start = PQgetvalue(result, Int32(row), Int32(column))
        else { return nil }
        let length = Int(PQgetlength(result, Int32(row), Int32(column)))
        return start.withMemoryRebound(to: UInt8.self, capacity: length) {
            Array(UnsafeBufferPointer(start: $0, count: length))
        }
    }

    /// The value's text; nil for null.
    func text(_ row: Int, _ column: Int) -> String? {
        bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
    }

    func integer(_ row: Int, _ column: Int) -> Int? { text(row, column).flatMap { Int($0) } }
}
