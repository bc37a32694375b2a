/// What PostgreSQL says when it refuses a statement, or that it could not be reached.
package struct PostgresFailure: Error, Sendable, Equatable {
    package let sqlState: String
    package let message: String
    package let details: String?
    package let hint: String?
    /// The connection is gone; the statement may or may not have been done.
    package let isConnectionLost: Bool

    package init(
        sqlState: String, message: String, details: String? = nil, hint: String? = nil, isConnectionLost: Bool = false
    ) {
        self.sqlState = sqlState
        self.message = message
        self.details = details
        self.hint = hint
        self.isConnectionLost = isConnectionLost
    }
}
