/// Why the local backend cannot start or cannot do what a test asked of it.
package enum LocalError: Error, Sendable, Equatable {
    /// No PostgreSQL server programs were found on this machine.
    case postgresMissing(searched: [String])
    /// A program of PostgreSQL ended with an error; `output` is what it printed.
    case programFailed(program: String, output: String)
    /// The folder cannot be used; the sentence says why.
    case unusableFolder(path: String, reason: String)
    /// A SQL file could not be read.
    case unreadableFile(path: String)
    /// The HTTP server could not listen.
    case cannotListen(reason: String)
    /// PostgreSQL refused a statement.
    case database(PostgresFailure)
    /// The backend has been stopped.
    case stopped
}

extension LocalError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .postgresMissing(let searched):
            """
            PostgreSQL 15 or newer was not found (looked for initdb and postgres in \(searched.joined(separator: ", "))).
            Install it with: apt-get install postgresql (Debian, Ubuntu) or brew install postgresql@17 (macOS).
            """
        case .programFailed(let program, let output): "\(program) failed: \(output)"
        case .unusableFolder(let path, let reason): "cannot use the folder \(path): \(reason)"
        case .unreadableFile(let path): "cannot read \(path)"
        case .cannotListen(let reason): "cannot listen on 127.0.0.1: \(reason)"
        case .database(let failure): "PostgreSQL: \(failure.sqlState) \(failure.message)"
        case .stopped: "the local backend has been stopped"
        }
    }
}
