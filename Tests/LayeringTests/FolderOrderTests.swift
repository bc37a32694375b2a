import Testing

/// The feature folders of the client use each other in one direction only.
@Suite struct FolderOrderTests {
    @Test func noFolderUsesALaterOne() throws {
        let findings = FolderOrder.findings(in: try SourceTree.files())
        #expect(findings.isEmpty, "\n\(findings.map(\.description).joined(separator: "\n"))")
    }

    @Test func everyFolderOfTheOrderExists() throws {
        let files = try SourceTree.files()
        for folder in FolderOrder.folders {
            #expect(files.contains { $0.path.hasPrefix("Sources/KizunaSync/\(folder)/") }, "\(folder)")
        }
    }

    private func findings(_ files: [(String, String)]) -> [String] {
        FolderOrder.findings(in: files.map { SourceFile(path: "Sources/KizunaSync/" + $0.0, text: $0.1) })
            .map { "\($0.path):\($0.line)" }
    }

    @Test func aUseOfALaterFolderIsFound() {
        let client = ("Client/Engine.swift", "package final class Engine {}\nlet reads: LiveReads")
        #expect(
            findings([client, ("Reads/LiveReads.swift", "struct LiveReads {\n    let engine: Engine\n}")])
                == ["Sources/KizunaSync/Reads/LiveReads.swift:2"])
        #expect(findings([client, ("Reads/LiveReads.swift", "struct LiveReads {} // of the Engine")]) == [])
        #expect(findings([("Leftovers/A.swift", "struct A {}")]) == ["Sources/KizunaSync/Leftovers/A.swift:1"])
    }
}
