/// Pure files decide and do nothing else (docs/architecture.md, Machine and runner): no waiting, no clock, no randomness, no lock, no platform.
///
/// A file is pure when it belongs to a machine (`…Machine.swift`, `…Machine+….swift`) or when a doc comment in it has the
/// word "Pure".
enum PurityChecker {
    private static let impure: [(Pattern, String)] = [
        (Pattern(#"\bawait\b|\basync\b"#), "waits"),
        (Pattern(#"\bTask\b"#), "starts a task"),
        (Pattern(#"\bactor\b"#), "is an actor"),
        (Pattern(#"\bDate\s*\(|\bDate\.now\b|\bContinuousClock\b|\bSuspendingClock\b"#), "reads a clock"),
        (Pattern(#"\bUUID\s*\("#), "makes an id"),
        (Pattern(#"\.random\b|\.randomElement\b|\.shuffled\b|RandomNumberGenerator"#), "makes randomness"),
        (Pattern(#"\bMutex\b|\bAtomic\b"#), "takes a lock"),
        (Pattern(#"\bimport\s+(Dispatch|Foundation|FoundationEssentials|Synchronization)\b"#), "imports a platform"),
    ]

    private static let machineName = Pattern(#"Machine(\+\w+)?\.swift$"#)
    private static let claim = Pattern(#"^\s*///.*\bPure\b"#)

    static func isPure(_ file: SourceFile) -> Bool {
        machineName.matches(file.name) || file.lines.contains { claim.matches($0) }
    }

    static func findings(in file: SourceFile) -> [Finding] {
        guard file.target != nil, file.isSwift, isPure(file) else { return [] }
        return impure.flatMap { pattern, what in
            pattern.findings(in: file.code, of: file, "a pure file \(what)")
        }
    }
}
