/// Calls that break a promise of the house style wherever they stand, or everywhere but in one file.
enum CallChecker {
    private static let clientTargets: Set<String> = [
        "KizunaCore", "KizunaPostgREST", "KizunaStore", "KizunaTransport", "KizunaSync",
    ]

    private static let traps: [(Pattern, String)] = [
        (Pattern(#"@testable\b"#), "tests do without @testable"),
        (Pattern(#"\btry!"#), "try! turns an error into a crash"),
        (Pattern(#"\bas!"#), "as! turns a mistake into a crash"),
        (Pattern(#"[\w)\]>](?<!\btry)(?<!\bas)!(?!=)"#), "a forced unwrap turns nil into a crash"),
    ]

    private static let live: [(Pattern, String)] = [
        (Pattern(#"\bTask\s*(<[^>]*>)?\s*[({]|\bTask\.(detached|immediate)"#), "a loose task"),
        (Pattern(#"\bTask\.sleep\b|\b(Continuous|Suspending)Clock\b"#), "a real wait or clock"),
        (Pattern(#"\bDate\s*\(\s*\)|\bDate\.now\b"#), "the real wall clock"),
        (Pattern(#"\bUUID\s*\(\s*\)"#), "an id of its own"),
        (
            Pattern(
                #"\.random\s*\(\s*(in|using)\b|\bBool\.random\b|\.randomElement\b|\.shuffled\s*\(\s*\)"#
                    + #"|\bSystemRandomNumberGenerator\b"#), "randomness of its own"
        ),
    ]

    /// What waits is a call of the store or of the network; a sleep fails by cancellation alone.
    private static let ignored = Pattern(#"\btry\?\s*await\b(?![^;{]*\.sleep\()"#)

    static func findings(in file: SourceFile) -> [Finding] {
        guard file.isSwift else { return [] }
        var findings = traps.flatMap { pattern, message in pattern.findings(in: file.code, of: file, message) }
        if let target = file.target, clientTargets.contains(target) {
            findings += ignored.findings(in: file.code, of: file, "an error of the store or the network is ignored")
        }
        if let target = file.target, clientTargets.contains(target), !file.name.hasSuffix("+Live.swift") {
            findings += live.flatMap { pattern, what in
                pattern.findings(in: file.code, of: file, "\(what), outside a +Live.swift file")
            }
        }
        return findings
    }
}
