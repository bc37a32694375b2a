/// Names in back quotes on a page: a type or a long name that is declared nowhere, a path that no file has.
struct PageNameChecker {
    private let declared: Set<String>
    private let paths: [String]
    private let folders: Set<String>
    private let foreign: Set<String>

    init(_ files: [SourceFile], foreign: Set<String>) {
        declared = Self.declarations(in: files)
        paths = files.map { "/" + $0.path }
        folders = Set(files.flatMap(\.folders))
        self.foreign = foreign
    }

    /// The names that Swift files declare.
    static func declarations(in files: [SourceFile]) -> Set<String> {
        var names: Set<String> = []
        let keyword = #/\b(?:struct|class|enum|protocol|actor|extension|typealias|func|var|let|case) +`?(\w+)/#
        for line in files.filter(\.isSwift).flatMap(\.code) {
            for match in line.matches(of: keyword) { names.insert(String(match.output.1)) }
        }
        return names
    }

    func findings(in page: SourceFile) -> [Finding] {
        var findings: [Finding] = []
        var isCode = false
        for (index, line) in page.lines.enumerated() {
            if line.hasPrefix("```") { isCode.toggle() }
            guard !isCode else { continue }
            for match in line.matches(of: #/`([^`]+)`/#) where !isKnown(String(match.output.1)) {
                findings.append(Finding(path: page.path, line: index + 1, message: "nothing named \(match.output.1)"))
            }
        }
        return findings
    }

    /// Whether a quoted text is the name of something that exists, or no name at all.
    private func isKnown(_ text: String) -> Bool {
        if foreign.contains(text) || folders.contains(text) { return true }
        if text.wholeMatch(of: #/[A-Z]\w+(/[A-Za-z]\w+)+(\+\w+)?(\.swift)?/#) != nil {
            return paths.contains { path in
                path.hasSuffix("/\(text).swift") || path.hasSuffix("/\(text)") || path.contains("/\(text)/")
            }
        }
        // Short words are states and events; a long name is a test or a function.
        let isType = text.wholeMatch(of: #/[A-Z][A-Za-z0-9]{3,}/#) != nil && text.contains { $0.isLowercase }
        let isLong = text.wholeMatch(of: #/[a-z][A-Za-z0-9]{15,}/#) != nil
        return !(isType || isLong) || declared.contains(text)
    }
}
