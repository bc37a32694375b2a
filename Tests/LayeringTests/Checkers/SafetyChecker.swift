import Foundation

/// What the compiler is told to trust says why it may.
enum SafetyChecker {
    private static let claim = Pattern(#"@unchecked\s+Sendable\b|\bnonisolated\(unsafe\)"#)
    private static let reason = Pattern(#"^\s*///?\s*Safe because\b"#)

    static func findings(in file: SourceFile) -> [Finding] {
        guard file.isSwift else { return [] }
        return file.code.enumerated().compactMap { index, line in
            guard claim.matches(line), !hasReason(above: index, file) else { return nil }
            return Finding(path: file.path, line: index + 1, message: "no comment above begins \"Safe because\"")
        }
    }

    /// Whether the comment and attribute lines directly above this one hold the reason.
    private static func hasReason(above index: Int, _ file: SourceFile) -> Bool {
        for line in file.lines[..<index].reversed() {
            let text = line.trimmingCharacters(in: .whitespaces)
            if reason.matches(text) { return true }
            guard text.hasPrefix("//") || text.hasPrefix("@") else { return false }
        }
        return false
    }
}
