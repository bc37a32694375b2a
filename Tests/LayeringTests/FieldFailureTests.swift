import Testing

/// The page of field failures names tests that exist.
@Suite struct FieldFailureTests {
    @Test func everyTestThatThePageNamesExists() throws {
        let files = try SourceTree.files()
        let page = try #require(files.first { $0.path == "docs/field-failures.md" }).lines.joined(separator: "\n")
        let names = page.matches(of: #/`([a-z]\w+)`/#).map { String($0.output.1) }
        let tests = files.filter { $0.path.hasPrefix("Tests/") }.flatMap(\.code).joined(separator: "\n")
        #expect(names.count > 25)
        #expect(Self.missing(names, in: tests) == [])
    }

    @Test func aNameThatIsNoTestIsFound() {
        #expect(Self.missing(["here", "gone"], in: "@Test func here() {}\n// gone") == ["gone"])
    }

    private static func missing(_ names: [String], in tests: String) -> [String] {
        names.filter { !tests.contains("func \($0)(") }
    }
}
