internal import CPostgres
internal import Foundation

/// One connection to PostgreSQL. It belongs to one thread.
final class PostgresConnection {
    private let handle: OpaquePointer

    init(_ address: DatabaseAddress) throws(PostgresFailure) {
        guard let handle = PQconnectdb(address.connectionString) else {
            throw PostgresFailure(sqlState: "53200", message: "out of memory", isConnectionLost: true)
        }
        guard PQstatus(handle) == CONNECTION_OK else {
            let message = String(cString: PQerrorMessage(handle))
            PQfinish(handle)
            throw PostgresFailure(sqlState: "08006", message: message, isConnectionLost: true)
        }
        // Notices would go to standard error; nobody reads them there.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        self.handle = handle
    }

    deinit { PQfinish(handle) }

    var isAlive: Bool { PQstatus(handle) == CONNECTION_OK }

    /// Runs one statement; a parameter is text whose type PostgreSQL finds out by itself.
    @discardableResult
    func query(_ sql: String, _ parameters: [String?] = []) throws(PostgresFailure) -> PostgresRows {
        for text in parameters { try Self.check(text) }
        try Self.check(sql)
        let copies = parameters.map { parameter in parameter.flatMap { strdup($0) } }
        defer { for copy in copies { free(copy) } }
        let values = copies.map { UnsafePointer<CChar>($0) }
        return try checked(PQexecParams(handle, sql, Int32(values.count), nil, values, nil, nil, 0))
    }

    /// Runs a text of any number of statements and gives the rows of the last one.
    @discardableResult
    func run(script: String) throws(PostgresFailure) -> PostgresRows {
        try Self.check(script)
        return try checked(PQexec(handle, script))
    }

    /// libpq ends a text at its first NUL and would run or store only the part before it.
    private static func check(_ text: String?) throws(PostgresFailure) {
        guard let text, text.utf8.contains(0) else { return }
        throw PostgresFailure(sqlState: "22021", message: "invalid byte sequence for encoding \"UTF8\": 0x00")
    }

    /// Runs the body in a transaction, which is rolled back when the body throws.
    func transaction<Outcome>(_ beginning: String = "BEGIN", _ body: () throws -> Outcome) throws -> Outcome {
        try run(script: beginning)
        do {
            let outcome = try body()
            try run(script: "COMMIT")
            return outcome
        } catch {
            rollBack()
            throw error
        }
    }

    /// Ends a transaction without keeping anything; on a lost connection there is nothing left to end.
    func rollBack() { _ = try? run(script: "ROLLBACK") }

    /// Whether a notification has come since the last call.
    func takeNotifications() -> Bool {
        guard PQconsumeInput(handle) == 1 else { return false }
        var hasAny = false
        while let note = PQnotifies(handle) {
            hasAny = true
            PQfreemem(note)
        }
        return hasAny
    }

    private func checked(_ result: OpaquePointer?) throws(PostgresFailure) -> PostgresRows {
        guard let result else {
            throw PostgresFailure(
                sqlState: "08006", message: String(cString: PQerrorMessage(handle)), isConnectionLost: true)
        }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return PostgresRows(owning: result)
        default:
            defer { PQclear(result) }
            throw failure(of: result)
        }
    }

    private func failure(of result: OpaquePointer) -> PostgresFailure {
        // The macros for these fields are characters, which do not reach Swift.
        func field(_ code: Character) -> String? {
            guard let ascii = code.asciiValue, let text = PQresultErrorField(result, Int32(ascii)) else { return nil }
            return String(cString: text)
        }
        return PostgresFailure(
            sqlState: field("C") ?? "08006", message: field("M") ?? String(cString: PQresultErrorMessage(result)),
            details: field("D"), hint: field("H"), isConnectionLost: !isAlive)
    }
}
