internal import KizunaCore
public import KizunaPostgREST

/// A table of a simulated server: its key, its constraints and who sees which rows.
///
/// ```swift
/// SimulatedTable("tasks", columns: ["id": .uuid, "title": .text], ownerColumn: "user_id")
/// ```
public struct SimulatedTable: Sendable {
    /// The table's name.
    public var name: String
    /// The schema it is in.
    public var schema = "public"
    /// The columns of the primary key, in order.
    public var primaryKey: [String]
    /// The columns' types by name. Where any is declared, each row carries every declared column and no other; an
    /// undeclared column is read by the kind of its JSON value.
    public var columns: [String: KizunaColumnType]
    /// Sets of columns no two rows may agree in, besides the primary key.
    public var uniqueColumns: [[String]]
    /// Foreign keys: the column, and the table of this schema whose one-column primary key it holds.
    public var references: [String: String]
    /// The column that names the user a row belongs to. Nobody else sees, adds or changes the row; nil is no such rule.
    public var ownerColumn: String?
    /// JSON texts for columns an insert leaves out, given how many rows were inserted before.
    public var defaults: [String: @Sendable (_ inserted: Int) -> String] = [:]
    /// Refuses a row that is about to be inserted or changed; nil lets it pass.
    public var check: (@Sendable (_ row: SimulatedRow) -> SimulatedRejection?)?

    /// Describes a table; everything but the name has a default.
    public init(
        _ name: String, primaryKey: [String] = ["id"], columns: [String: KizunaColumnType] = [:],
        uniqueColumns: [[String]] = [], references: [String: String] = [:], ownerColumn: String? = nil,
        check: (@Sendable (_ row: SimulatedRow) -> SimulatedRejection?)? = nil
    ) {
        self.name = name
        self.primaryKey = primaryKey
        self.columns = columns
        self.uniqueColumns = uniqueColumns
        self.references = references
        self.ownerColumn = ownerColumn
        self.check = check
    }
}

/// A row of a simulated server, as a check sees it.
public struct SimulatedRow: Sendable {
    let value: RawJSON

    /// The row's JSON text.
    public var json: String { value.text }

    /// The text of a column's value; nil where the column is missing, null, an array or an object.
    public subscript(column: String) -> String? { value.member(column)?.scalarText }
}

/// An error answer of a simulated server: PostgREST's four members and the HTTP status.
public struct SimulatedRejection: Error, Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The SQLSTATE or PostgREST code.
    public var code: String
    /// The server's sentence.
    public var message: String
    /// The server's details.
    public var details: String?
    /// Seconds for a `Retry-After` header.
    public var retryAfter: Int?

    /// Makes an answer.
    public init(_ status: Int, code: String, message: String, details: String? = nil, retryAfter: Int? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.details = details
        self.retryAfter = retryAfter
    }

    /// The answer to a row that breaks a check constraint.
    public static func checkViolation(table: String, constraint: String) -> SimulatedRejection {
        SimulatedRejection(
            400, code: "23514",
            message: "new row for relation \"\(table)\" violates check constraint \"\(constraint)\"")
    }
}

/// One change of a row that a simulated server carried out.
public struct SimulatedMutation: Sendable, Hashable {
    /// What was done to the row.
    public enum Operation: String, Sendable, Hashable {
        /// The row is new.
        case insert
        /// The row was there before.
        case update
        /// The row is gone.
        case delete
    }

    /// What was done.
    public let operation: Operation
    /// The table.
    public let table: String
    /// The row's primary key, as text; several columns as a JSON array.
    public let key: String
    /// The row's JSON text: after an insert or update, before a delete.
    public let row: String
    /// The user the request's token named; nil for an anonymous one and for changes made by the test itself.
    public let userID: String?
    /// The virtual time at which it was done.
    public let doneAt: Duration
}
