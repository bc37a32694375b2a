import Foundation

/// The package's own files.
enum SourceTree {
    private static let skipped: Set<String> = [".build", ".git", ".swiftpm", ".venv", "node_modules", "__pycache__"]

    /// The package's folder: three levels above the tests' support folder.
    static var root: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
    }

    /// Every text file, sorted by path.
    static func files() throws -> [SourceFile] {
        var files: [SourceFile] = []
        try collect(root, "", into: &files)
        return files.sorted { $0.path < $1.path }
    }

    private static func collect(_ folder: URL, _ prefix: String, into files: inout [SourceFile]) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !skipped.contains(name) {
            let url = folder.appendingPathComponent(name)
            let values = try url.resourceValues(forKeys: [.isDirectoryKey, .isSymbolicLinkKey])
            if values.isSymbolicLink == true { continue }
            if values.isDirectory == true {
                try collect(url, prefix + name + "/", into: &files)
            } else if let text = String(data: try Data(contentsOf: url), encoding: .utf8) {
                files.append(SourceFile(path: prefix + name, text: text))
            }
        }
    }
}
