import Testing

/// Each place that the glossary names exists in the sources.
@Suite struct GlossaryTests {
    private struct Row {
        let term: String
        let places: [String]
    }

    @Test func everyPlaceOfTheGlossaryExists() throws {
        let files = try SourceTree.files()
        let page = try #require(files.first { $0.path == "docs/glossary.md" })
        let rows = Self.rows(of: page)
        #expect(rows.count > 40)
        #expect(rows.filter(\.places.isEmpty).map(\.term) == [])
        #expect(Self.missing(rows, in: files) == [])
    }

    @Test func everyTermStandsOnceAndInOrder() throws {
        let page = try #require(try SourceTree.files().first { $0.path == "docs/glossary.md" })
        let terms = Self.rows(of: page).map { $0.term.lowercased() }
        #expect(Set(terms).count == terms.count)
        #expect(zip(terms, terms.sorted()).filter { $0 != $1 }.map(\.0) == [])
    }

    @Test func aPlaceThatIsGoneIsFound() {
        let page = SourceFile(
            path: "docs/glossary.md",
            text: """
                | Term | Meaning | Where |
                |---|---|---|
                | lease | A right. | `Lease`, `Lease.length`, `Gone`, `Lease.gone` |
                """)
        let source = SourceFile(
            path: "Sources/A/Lease.swift", text: "struct Lease { let length = 1 }\n// struct Gone {}")
        let rows = Self.rows(of: page)
        #expect(rows.map(\.term) == ["lease"])
        #expect(Self.missing(rows, in: [page, source]) == ["Gone", "Lease.gone"])
    }

    /// The rows of tables whose last column is "Where".
    private static func rows(of page: SourceFile) -> [Row] {
        var isTerms = false
        return page.lines.compactMap { line -> Row? in
            let cells = line.split(separator: "|").map { $0.trimmingPrefix(#/ +/#) }
            guard line.hasPrefix("|"), let first = cells.first, let last = cells.last else {
                isTerms = false
                return nil
            }
            if last.hasPrefix("Where") { isTerms = true }
            guard isTerms, cells.count == 3, !last.hasPrefix("Where"), !first.hasPrefix("---") else { return nil }
            let places = last.matches(of: #/`([^`]+)`/#).map { String($0.output.1) }
            return Row(term: String(first.replacing(#/ +$/#, with: "")), places: places)
        }
    }

    /// The places that are neither a path of the tree nor declared in the sources.
    private static func missing(_ rows: [Row], in files: [SourceFile]) -> [String] {
        let declared = PageNameChecker.declarations(in: files.filter { $0.target != nil })
        return rows.flatMap(\.places).filter { place in
            if place.contains("/") { return !files.contains { $0.path == place || $0.path.hasPrefix(place + "/") } }
            let names = place.prefix { $0 != "(" }.split(separator: ".").map(String.init)
            return !names.allSatisfy(declared.contains)
        }
    }
}
