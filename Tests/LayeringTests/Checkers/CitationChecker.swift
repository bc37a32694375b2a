/// Comments and pages that cite a page by something other than its path in this repository.
enum CitationChecker {
    // Put together from parts, so that this file does not find itself.
    private static let foreign: [(Pattern, String)] = [
        (Pattern("\u{A7}"), "a section number"),
        (Pattern(#"\b[Ss]eed(s/|'s page| pages?\b| ""# + #")"#), "a page that is not in the repository"),
        (Pattern(#"\b[Ss]pec (reads|scheduler|field-failures|replication)\b"#), "a page that is not in the repository"),
        (Pattern(#"\.\./sha"# + #"red\b"#), "a folder that is not in the repository"),
    ]

    static func findings(in file: SourceFile) -> [Finding] {
        guard file.isSwift || file.path.hasSuffix(".md") else { return [] }
        // The checker and its test hold examples of what is forbidden.
        guard file.name != "ReferenceTests.swift", file.name != "CitationChecker.swift" else { return [] }
        return foreign.flatMap { pattern, what in
            pattern.findings(in: file.lines, of: file, "cites \(what): write docs/spec/PAGE.md, Heading")
        }
    }
}
