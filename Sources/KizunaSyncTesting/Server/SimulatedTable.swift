internal import KizunaCore
public import KizunaPostgREST

/// A table of a simulated server: its key, its constraints and its row level security.
///
/// ```swift
/// SimulatedTable("tasks", columns: ["id": .uuid, "title": .text], ownerColumn: "user_id")
/// ```
public struct SimulatedTable: Sendable {
    /// The table's name.
    public var name: String
    /// The schema of the table.
    public var schema = "public"
    /// The columns of the primary key, in order.
    public var primaryKey: [String]
    /// The columns' types by name. If any is declared, each row has exactly the declared columns; an undeclared
    /// column has the type of its JSON value.
    public var columns: [String: KizunaColumnType]
    /// Unique constraints besides the primary key, each a list of columns.
    public var uniqueColumns: [[String]]
    /// Foreign keys: the column, and the table of the same schema whose one-column primary key it refers to.
    public var references: [String: String]
    /// The foreign key columns with `ON DELETE CASCADE`: a delete of the referenced row deletes the row.
    public var cascadingColumns: Set<String>
    /// The column with the user that owns a row. No other user sees, adds or changes the row; nil is no such policy.
    public var ownerColumn: String?
    /// JSON texts for columns that an insert omits; the argument is the number of rows inserted before.
    public var defaults: [String: @Sendable (_ inserted: Int) -> String] = [:]
    /// A check constraint: returns the rejection of an inserted or changed row, or nil.
    public var check: (@Sendable (_ row: SimulatedRow) -> SimulatedRejection?)?

    /// Creates a table; everything but the name has a default.
    public init(
        _ name: String, primaryKey: [String] = ["id"], columns: [String: KizunaColumnType] = [:],
        uniqueColumns: [[String]] = [], references: [String: String] = [:],
        cascadingColumns: Set<String> = [], ownerColumn: String? = nil,
        check: (@Sendable (_ row: SimulatedRow) -> SimulatedRejection?)? = nil
    ) {
        self.name = name
        self.primaryKey = primaryKey
        self.columns = columns
        self.uniqueColumns = uniqueColumns
        self.references = references
        self.cascadingColumns = cascadingColumns
        self.ownerColumn = ownerColumn
        self.check = check
    }
}

/// A row of a simulated server, as passed to a check.
public struct SimulatedRow: Sendable {
    let value: RawJSON

    /// The row's JSON text.
    public var json: String { value.text }

    /// Returns the text of a column's value; nil if the column is missing, null, an array or an object.
    public subscript(column: String) -> String? { value.member(column)?.scalarText }
}

/// An error response of a simulated server: PostgREST's four members and the HTTP status.
public struct SimulatedRejection: Error, Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The SQLSTATE or PostgREST code.
    public var code: String
    /// The error message.
    public var message: String
    /// The error details.
    public var details: String?
    /// Seconds for a `Retry-After` header.
    public var retryAfter: Int?

    /// Creates an error response.
    public init(_ status: Int, code: String, message: String, details: String? = nil, retryAfter: Int? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.details = details
        self.retryAfter = retryAfter
    }

    /// The error response to a row that violates a check constraint.
    public static func checkViolation(table: String, constraint: String) -> SimulatedRejection {
        SimulatedRejection(
            400, code: "23514",
            message: "new row for relation \"\(table)\" violates check constraint \"\(constraint)\"")
    }
}

/// One change of a row on a simulated server.
public struct SimulatedMutation: Sendable, Hashable {
    /// The kind of change.
    public enum Operation: String, Sendable, Hashable {
        /// A new row.
        case insert
        /// A change of an existing row.
        case update
        /// A removal.
        case delete
    }

    /// The kind of change.
    public let operation: Operation
    /// The table.
    public let table: String
    /// The row's primary key, as text; several columns as a JSON array.
    public let key: String
    /// The row's JSON text: after an insert or update, before a delete.
    public let row: String
    /// The user of the request's token; nil for an anonymous request and for changes made by the test.
    public let userID: String?
    /// The virtual time of the change.
    public let doneAt: Duration
}
