/// Machines decide and do nothing else (docs/architecture.md, Machine and runner): no waiting, no clock, no randomness,
/// no lock, no platform.
enum MachineChecker {
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

    static func findings(in file: SourceFile) -> [Finding] {
        guard file.target != nil, file.name.hasSuffix("Machine.swift") else { return [] }
        return impure.flatMap { pattern, what in
            pattern.findings(in: file.code, of: file, "a machine \(what)")
        }
    }
}
