import Testing

/// Pages and comments use the words of the glossary.
@Suite struct WordTests {
    /// Beginnings of the paths that are checked: the pages, and sources whose comments have been rewritten.
    private static let checked = [
        "docs/", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Sources/KizunaPostgREST/",
        "Sources/KizunaSync/Overlay/", "Sources/KizunaSync/Wire/", "Sources/KizunaSync/Observation/",
    ]

    @Test func noPageHasAWordThatIsNotUsed() throws {
        let files = try SourceTree.files()
        let words = Self.words(of: try #require(files.first { $0.path == "docs/glossary.md" }))
        #expect(words.count > 10)
        let pages = files.filter { file in
            file.path != "docs/glossary.md" && Self.checked.contains { file.path.hasPrefix($0) }
        }
        let findings = pages.flatMap { Self.findings(words, in: $0) }
        #expect(findings.isEmpty, "\n\(findings.map(\.description).joined(separator: "\n"))")
    }

    @Test func aWordThatIsNotUsedIsFound() {
        let glossary = SourceFile(
            path: "docs/glossary.md",
            text: """
                | Not | But |
                |---|---|
                | anew | again |
                | turn (to send) | lease |
                | lay over, laid over | applied |
                """)
        let words = Self.words(of: glossary)
        #expect(words == ["anew", "lay over", "laid over"])
        let page = SourceFile(path: "docs/a.md", text: "It begins anew.\nA renewal; turn it off.\nLaid over the rows.")
        #expect(Self.findings(words, in: page).map(\.line) == [1, 3])
    }

    /// The words of the table "Not | But"; a row with a note in parentheses depends on the meaning and is left out.
    private static func words(of glossary: SourceFile) -> [String] {
        let rows = glossary.lines.drop { !$0.hasPrefix("| Not |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
        return rows.flatMap { row -> [String] in
            let words = row.split(separator: "|").first.map(String.init) ?? ""
            guard !words.contains("(") else { return [] }
            return words.split(separator: ",").map { word in
                word.split(separator: " ").joined(separator: " ")
            }
        }
    }

    private static func findings(_ words: [String], in page: SourceFile) -> [Finding] {
        words.flatMap { word in
            Pattern("(?i)\\b\(word)\\b").findings(in: page.lines, of: page, "the glossary does not use \"\(word)\"")
        }
    }
}
