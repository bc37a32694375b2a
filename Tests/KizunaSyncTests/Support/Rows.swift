/// A task as the tests read it.
struct TaskRow: Codable, Sendable, Equatable {
    var id: String
    var title: String
    var done: Bool
}

/// A task as the tests insert it.
struct NewTask: Encodable, Sendable {
    var title: String
    var done: Bool
}
