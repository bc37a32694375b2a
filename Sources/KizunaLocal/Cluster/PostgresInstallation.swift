internal import Foundation

/// The folder that holds PostgreSQL's server programs.
package struct PostgresInstallation: Sendable, Equatable {
    package let programs: String

    package func program(_ name: String) -> String { programs + "/" + name }

    /// Finds the newest installation: the package folders of Debian and Homebrew first, then the search path.
    package static func find(
        roots: [String] = standardRoots,
        searchPath: String = ProcessInfo.processInfo.environment["PATH"] ?? ""
    ) throws(LocalError) -> PostgresInstallation {
        var candidates: [String] = []
        for root in roots { candidates += versionFolders(in: root) }
        candidates += searchPath.split(separator: ":").map(String.init)
        for folder in candidates where isComplete(folder) { return PostgresInstallation(programs: folder) }
        throw .postgresMissing(searched: roots + ["PATH"])
    }

    package static let standardRoots = [
        "/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt", "/Applications/Postgres.app/Contents/Versions",
    ]

    /// `…/15/bin` or `…/postgresql@17/bin`, newest version first.
    private static func versionFolders(in root: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let versions = names.compactMap { name -> (version: Int, folder: String)? in
            let digits = name.hasPrefix("postgresql@") ? name.dropFirst("postgresql@".count) : Substring(name)
            guard let version = Int(digits) else { return nil }
            return (version, "\(root)/\(name)/bin")
        }
        return versions.sorted { $0.version > $1.version }.map(\.folder)
    }

    private static func isComplete(_ folder: String) -> Bool {
        ["initdb", "pg_ctl", "postgres"].allSatisfy {
            FileManager.default.isExecutableFile(atPath: folder + "/" + $0)
        }
    }
}
