/// A task as the demo's table holds it.
struct DemoTask: Codable, Sendable, Equatable {
    var id: String
    var title: String
    var done: Bool

    /// The rows by key, so that two lists can be compared whatever their order.
    static func sorted(_ tasks: [DemoTask]) -> [DemoTask] { tasks.sorted { $0.id < $1.id } }
}

/// One line a device writes: what it observed.
enum DeviceLine: Codable, Sendable, Equatable {
    case ready
    /// What its list shows, and the keys of the rows that wait to be sent.
    case shows(tasks: [DemoTask]?, refresh: String)
    case pending(ids: [String])
    case rejected(ids: [String], reasons: [String])
    /// The answer to a command.
    case done(command: String, detail: String)
    case failed(command: String, reason: String)
}

/// One command a device takes.
enum DeviceCommandLine: Codable, Sendable, Equatable {
    case goOffline
    case goOnline
    case add(title: String)
    case setDone(id: String)
    case pull
    case quit
}
