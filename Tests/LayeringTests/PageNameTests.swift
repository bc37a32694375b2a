import Testing

/// Types, tests and files that the pages for contributors name exist.
@Suite struct PageNameTests {
    private static let pages = ["docs/machines.md", "docs/architecture.md", "docs/performance.md", "CONTRIBUTING.md"]

    /// Names of other packages, and words that a page quotes.
    private static let foreign: Set<String> = [
        "JSONDecoder", "Returns", "SupabaseSwift", "Throws", "URLSession", "insertIsDeliveredOnceAfterALostResponse",
    ]

    @Test func everyNameOfThePagesExists() throws {
        let files = try SourceTree.files()
        let checker = PageNameChecker(files, foreign: Self.foreign)
        let findings = files.filter { Self.pages.contains($0.path) }.flatMap(checker.findings)
        #expect(findings.isEmpty, "\n\(findings.map(\.description).joined(separator: "\n"))")
    }

    @Test func aNameThatIsGoneIsFound() {
        let source = SourceFile(path: "Sources/KizunaSync/Reads/LeaseMachine.swift", text: "struct LeaseMachine {}")
        let test = SourceFile(path: "Tests/A/A.swift", text: "@Test func aLeaseIsRenewedInTime() {}")
        let page = SourceFile(
            path: "docs/a.md",
            text: """
                `LeaseMachine`, `Sources/KizunaSync/Reads/LeaseMachine.swift`, `Reads/LeaseMachine`,
                `aLeaseIsRenewedInTime`, `sending`, `a + b`
                `GoneMachine`, `Sources/KizunaSync/Gone.swift`, `aLeaseIsGoneInTime`
                """)
        let checker = PageNameChecker([source, test, page], foreign: [])
        #expect(checker.findings(in: page).map(\.line) == [3, 3, 3])
    }
}
