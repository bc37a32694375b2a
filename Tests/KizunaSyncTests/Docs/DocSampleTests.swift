import Foundation
import Testing

/// Every Swift block of a page stands in the sources of this folder, or in those that scripts/check-supabase builds, so it
/// compiles.
@Suite struct DocSampleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Blocks that are no code of an app: a package manifest, an import alone.
    private static let notCode = ["// Package.swift"]

    @Test(arguments: ["README.md", "docs/scheduling.md", "docs/writing.md", "docs/testing.md", "docs/owners.md"])
    func everySwiftBlockOfThePageIsCompiled(page: String) throws {
        let text = try String(contentsOf: Self.root.appendingPathComponent(page), encoding: .utf8)
        let compiled = try ["Tests/KizunaSyncTests/Docs", "Tests/SupabaseAdapter"].map(Self.root.appendingPathComponent)
            .flatMap { try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil) }
            .filter { $0.lastPathComponent.hasSuffix("Samples.swift") }
            .map { Self.lines(try String(contentsOf: $0, encoding: .utf8)) }
        let blocks = Self.blocks(text).filter { block in !Self.notCode.contains { block.contains($0) } }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let wanted = Self.lines(block).filter { !$0.hasPrefix("import ") }
            #expect(compiled.contains { Self.contains($0, wanted) }, "not compiled: \(block)")
        }
    }

    @Test func aBlockThatIsNotCompiledIsFound() {
        let compiled = Self.lines("let a = 1\nlet b = 2")
        #expect(Self.contains(compiled, ["let b = 2"]))
        #expect(!Self.contains(compiled, ["let b = 3"]))
        #expect(Self.blocks("x\n```swift\nlet a = 1\n```\ny\n```\nz\n```") == ["let a = 1"])
    }

    private static func blocks(_ page: String) -> [String] {
        page.components(separatedBy: "```swift\n").dropFirst().compactMap { rest in
            rest.components(separatedBy: "\n```").first
        }
    }

    /// The lines without indentation, blank lines and the blanks before a trailing comment.
    private static func lines(_ text: String) -> [String] {
        text.components(separatedBy: "\n").map { line in
            line.replacing(#/ +\/\/ /#, with: "  // ").trimmingCharacters(in: .whitespaces)
        }.filter { !$0.isEmpty }
    }

    private static func contains(_ lines: [String], _ wanted: [String]) -> Bool {
        guard wanted.count <= lines.count else { return false }
        return (0...(lines.count - wanted.count)).contains { Array(lines[$0..<($0 + wanted.count)]) == wanted }
    }
}
