import Foundation
import Testing

@Suite struct ReadingPageTests {
    /// The lines of a text without indentation, empty lines and the access words a sample file needs.
    private static func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { line in
            let line = line.trimmingCharacters(in: .whitespaces)
            return line.hasPrefix("private ") ? String(line.dropFirst(8)) : line
        }.filter { !$0.isEmpty }
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

    private static func blocks() throws -> [[String]] {
        let root = folder.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/reading.md"), encoding: .utf8)
        return page.components(separatedBy: "```swift\n").dropFirst().map { part in
            lines(part.components(separatedBy: "```")[0])
        }
    }

    @Test func everySampleOfThePageIsCompiled() throws {
        let text = try String(contentsOf: Self.folder.appending(path: "ReadingSamples.swift"), encoding: .utf8)
        let compiled = "\n" + Self.lines(text).joined(separator: "\n") + "\n"
        let blocks = try Self.blocks()
        #expect(blocks.count == 10)
        for block in blocks {
            #expect(compiled.contains("\n" + block.joined(separator: "\n") + "\n"), "\(block.first ?? "")")
        }
    }
}
