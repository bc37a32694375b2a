/// What the catalogue says about a table or view.
struct TableShape: Sendable, Equatable {
    struct Column: Sendable, Equatable {
        let name: String
        /// The type's name without a length limit, good for a column list of a JSON function.
        let type: String
        /// The default's expression.
        let defaultExpression: String?
    }

    let schema: String
    let name: String
    var columns: [Column] = []
    /// The columns of the primary key, in its order.
    var primaryKey: [String] = []

    func column(_ name: String) -> Column? { columns.first { $0.name == name } }

    /// The quoted name with its schema.
    var sqlName: String { "\(SQLText.quoted(schema)).\(SQLText.quoted(name))" }
}
