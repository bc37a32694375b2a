/// One text file of the package.
struct SourceFile {
    /// The path from the package root, with slashes.
    let path: String
    /// The lines as they stand.
    let lines: [String]
    /// The lines of code, with comments and the contents of string literals blanked out. Empty where this is no Swift.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        code = path.hasSuffix(".swift") ? CodeText.blankingCommentsAndStrings(text) : []
    }

    var folders: [String] { path.split(separator: "/").dropLast().map(String.init) }

    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    var isSwift: Bool { path.hasSuffix(".swift") }

    /// The target whose sources this belongs to, nil for everything outside `Sources`.
    var target: String? {
        folders.count >= 2 && folders[0] == "Sources" ? folders[1] : nil
    }

    /// How many lines there are; a line break at the end begins no further one.
    var lineCount: Int { lines.last == "" ? lines.count - 1 : lines.count }
}

/// Something that breaks a rule, as an editor can jump to it.
struct Finding: Equatable, CustomStringConvertible {
    let path: String
    let line: Int
    let message: String

    var description: String { "\(path):\(line): \(message)" }
}
