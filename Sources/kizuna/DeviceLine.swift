/// A row of the demo's table.
struct DemoTask: Codable, Sendable, Equatable {
    var id: String
    var title: String
    var done: Bool

    /// Returns the rows sorted by key, for comparing lists.
    static func sorted(_ tasks: [DemoTask]) -> [DemoTask] { tasks.sorted { $0.id < $1.id } }
}

/// One line of output of a device: an observation.
enum DeviceLine: Codable, Sendable, Equatable {
    case ready
    /// The rows and the refresh state of the list.
    case shows(tasks: [DemoTask]?, refresh: String)
    case pending(ids: [String])
    case rejected(ids: [String], reasons: [String])
    /// The result of a command.
    case done(command: String, detail: String)
    case failed(command: String, reason: String)
}

/// One command to a device.
enum DeviceCommandLine: Codable, Sendable, Equatable {
    case goOffline
    case goOnline
    case add(title: String)
    case setDone(id: String)
    case pull
    case quit
}
