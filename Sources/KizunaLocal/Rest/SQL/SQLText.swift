/// A statement in the making: its text, and its parameters apart from it.
struct SQLText: Sendable, Equatable {
    private(set) var parameters: [String?] = []

    /// Keeps a value for the statement and gives the placeholder that stands for it. Its type is PostgreSQL's to find.
    mutating func bind(_ value: String?) -> String {
        parameters.append(value)
        return "$\(parameters.count)"
    }

    /// A name as PostgreSQL takes it literally.
    static func quoted(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }
}
