import Testing

/// References to pages name pages, headings and anchors that exist.
@Suite struct ReferenceTests {
    private static let pages = [
        SourceFile(path: "docs/spec/reads.md", text: "# Reads\n\n## Query identity\n```\n## No heading\n```"),
        SourceFile(path: "docs/decisions/041-embedded-tables.md", text: "# 041 Embedded tables"),
        SourceFile(path: "README.md", text: "# The package"),
    ]

    private func messages(_ path: String, _ text: String) -> [String] {
        let file = SourceFile(path: path, text: text)
        return ReferenceChecker(Self.pages + [file]).findings(in: file).map(\.message)
    }

    @Test func everyReferenceOfTheTreeExists() throws {
        let files = try SourceTree.files()
        let checker = ReferenceChecker(files)
        let findings = files.filter { !$0.path.hasPrefix("Tests/LayeringTests/") }.flatMap(checker.findings)
        #expect(findings.isEmpty, "\n\(findings.map(\.description).joined(separator: "\n"))")
    }

    @Test func noFileCitesAPageThatIsNotInTheRepository() throws {
        let files = try SourceTree.files()
        let findings = files.flatMap(CitationChecker.findings)
        #expect(findings.isEmpty, "\n\(findings.map(\.description).joined(separator: "\n"))")
    }

    @Test func theSpecificationIsCitedByTheSources() throws {
        let sources = try SourceTree.files().filter { $0.target != nil && $0.isSwift }
        let cited = sources.flatMap(CommentBlock.blocks).filter { $0.text.contains("docs/spec/") }
        #expect(cited.count > 30)
    }

    @Test func everyPageWithSwiftCodeIsCompiledByATest() throws {
        let files = try SourceTree.files()
        let tests = files.filter { $0.path.hasPrefix("Tests/KizunaSyncTests/Docs/") }.flatMap(\.lines)
        let pages = files.filter { file in
            file.path.hasSuffix(".md") && file.lines.contains { $0.hasPrefix("```swift") }
        }
        #expect(pages.count > 5)
        #expect(pages.map(\.path).filter { path in !tests.contains { $0.contains("\"\(path)\"") } } == [])
    }

    @Test(arguments: [
        ("Sources/A/A.swift", "/// See docs/spec/gone.md."),
        ("Sources/A/A.swift", "/// See docs/spec/reads.md, No heading."),
        ("Sources/A/A.swift", "/// See docs/spec/reads.md, Query\n/// identities."),
        ("Sources/A/A.swift", "let a = 1  // docs/gone.md"),
        ("Sources/A/A.swift", "// See decision 042."),
        ("docs/a.md", "See [b](b.md)."),
        ("docs/a.md", "See [reads](spec/reads.md#gone)."),
        ("docs/decisions/050-a.md", "See [reads](spec/reads.md)."),
        ("docs/a.md", "# A\n[below](#b)"),
    ])
    func aReferenceToNothingIsFound(_ path: String, _ text: String) {
        #expect(messages(path, text).count == 1)
    }

    @Test(arguments: [
        ("Sources/A/A.swift", "/// See docs/spec/reads.md, Query\n/// identity; README.md."),
        ("Sources/A/A.swift", "let a = \"docs/gone.md\""),
        ("Sources/A/A.swift", "/// (docs/spec/reads.md, which see; decision 041)"),
        ("docs/decisions/050-a.md", "See [reads](../spec/reads.md#query-identity) and [all](../decisions)."),
        ("docs/a.md", "# A b\n[below](#a-b) [out](https://example.test/b.md)\n```\n[c](c.md)\n```"),
    ])
    func aReferenceToSomethingIsFine(_ path: String, _ text: String) {
        #expect(messages(path, text) == [])
    }

    @Test(arguments: [
        "/// Source: seed \"Reactive reads\".", "// as spec reads 3", "// design \u{A7}5",
        "/// See ../sha" + "red/a.md",
    ])
    func aCitationOfAnotherKindIsFound(_ text: String) {
        #expect(CitationChecker.findings(in: SourceFile(path: "Sources/A/A.swift", text: text)).count == 1)
    }
}
