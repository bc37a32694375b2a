internal import Foundation

/// The system account that PostgreSQL runs as: it refuses to run as root, so root lends it the `postgres` account.
struct ServerAccount: Sendable, Equatable {
    /// Nil where the own account will do.
    let borrowed: Borrowed?

    struct Borrowed: Sendable, Equatable {
        let name: String
        let userID: uid_t
        let groupID: gid_t
    }

    static func current() throws(LocalError) -> ServerAccount {
        guard geteuid() == 0 else { return ServerAccount(borrowed: nil) }
        // Not `getpwnam`: its answer lies in memory that the next caller's, on any thread, is written to.
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var texts = [CChar](repeating: 0, count: 16_384)
        guard getpwnam_r("postgres", &entry, &texts, texts.count, &found) == 0, found != nil else {
            throw .unusableFolder(path: "/", reason: "PostgreSQL does not run as root and there is no postgres account")
        }
        return ServerAccount(borrowed: Borrowed(name: "postgres", userID: entry.pw_uid, groupID: entry.pw_gid))
    }

    /// The command line that runs a program under this account.
    func commandLine(_ program: String, _ arguments: [String]) -> [String] {
        guard let borrowed else { return [program] + arguments }
        if FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv") {
            return [
                "/usr/bin/setpriv", "--reuid=\(borrowed.userID)", "--regid=\(borrowed.groupID)", "--init-groups",
                program,
            ] + arguments
        }
        return ["/usr/sbin/runuser", "-u", borrowed.name, "--", program] + arguments
    }

    /// Gives a folder of ours to the account, for nobody else to enter.
    func adopt(_ folder: String) throws(LocalError) {
        guard chmod(folder, 0o700) == 0 else {
            throw .unusableFolder(path: folder, reason: String(cString: strerror(errno)))
        }
        guard let borrowed else { return }
        guard chown(folder, borrowed.userID, borrowed.groupID) == 0 else {
            throw .unusableFolder(path: folder, reason: String(cString: strerror(errno)))
        }
    }
}
