import Foundation

/// Questions about the platform are asked in few places, and there once for a whole file.
enum PlatformChecker {
    private static let question = Pattern(#"^\s*#(if|elseif)\b.*\b(os|canImport|targetEnvironment)\s*\("#)
    private static let networking = Pattern(#"^\s*#if\s+canImport\(FoundationNetworking\)\s*$"#)
    private static let anyCondition = Pattern(#"^\s*#if\b"#)

    static func findings(in file: SourceFile) -> [Finding] {
        guard file.isSwift, let target = file.target else { return [] }
        if target == "KizunaTransport", file.folders.contains("Apple") || file.folders.contains("Linux") {
            return wholeFileFindings(in: file)
        }
        if file.path.hasPrefix("Sources/KizunaSync/Observation/") { return [] }
        return file.code.enumerated().compactMap { index, line in
            guard question.matches(line) else { return nil }
            if target == "KizunaTransport", networking.matches(line) { return nil }
            return Finding(path: file.path, line: index + 1, message: "the platform is asked for outside its folders")
        }
    }

    /// In a platform folder, one condition stands around everything.
    private static func wholeFileFindings(in file: SourceFile) -> [Finding] {
        let code = file.code.enumerated().filter { !$0.element.allSatisfy(\.isWhitespace) }
        let first = code.first.map(\.element) ?? ""
        let last = code.last?.element.trimmingCharacters(in: .whitespaces)
        guard question.matches(first), last == "#endif", code.filter({ anyCondition.matches($0.element) }).count == 1
        else {
            return [Finding(path: file.path, line: 1, message: "one #if must stand around the whole file")]
        }
        return []
    }
}
