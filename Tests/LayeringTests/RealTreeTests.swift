import Testing

/// The layering rules and the house style, checked in every file of the package.
@Suite struct RealTreeTests {
    private static let checkers: [@Sendable (SourceFile) -> [Finding]] = [
        ImportChecker.findings, PurityChecker.findings, CallChecker.findings, PlatformChecker.findings,
        SafetyChecker.findings, TextChecker.findings,
    ]

    @Test func everyFileKeepsTheRules() throws {
        let files = try SourceTree.files()
        let findings = files.flatMap { file in Self.checkers.flatMap { $0(file) } }
        #expect(findings.isEmpty, "\n\(findings.map(\.description).joined(separator: "\n"))")
    }

    @Test func theTreeIsTheRealOne() throws {
        let files = try SourceTree.files()
        #expect(files.contains { $0.path == "Package.swift" })
        #expect(files.contains { $0.target == "KizunaCore" && $0.name == "SyncEnvironment+Live.swift" })
        #expect(files.contains { $0.path == "Tests/LayeringTests/RealTreeTests.swift" })
        #expect(!files.contains { $0.path.hasPrefix(".build/") })
    }
}
