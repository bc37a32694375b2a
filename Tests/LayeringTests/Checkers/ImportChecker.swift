/// The arrows of docs/architecture.md: which of the package's own modules, and of its C modules, a target may import.
enum ImportChecker {
    private static let allowed: [String: Set<String>] = [
        "KizunaCore": [],
        "KizunaPostgREST": ["KizunaCore"],
        "KizunaStore": ["KizunaCore", "CSQLite"],
        "KizunaTransport": ["KizunaCore", "CSoup"],
        "KizunaSync": ["KizunaCore", "KizunaPostgREST", "KizunaStore", "KizunaTransport"],
        "KizunaSyncTesting": ["KizunaCore", "KizunaPostgREST", "KizunaSync"],
        "KizunaLocal": ["KizunaCore", "CPostgres", "CSoup"],
        "kizuna": ["KizunaCore", "KizunaSync", "KizunaLocal"],
        "kizuna-bench": [
            "KizunaCore", "KizunaPostgREST", "KizunaStore", "KizunaTransport", "KizunaSync", "KizunaSyncTesting",
            "KizunaLocal", "CSQLite",
        ],
    ]

    private static let ours: Set<String> = Set(allowed.keys).union(["CSQLite", "CPostgres", "CSoup"])

    private static let statement = Pattern(
        #"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+"#
            + #"(?:(?:struct|class|enum|protocol|func|var|let|typealias|actor)\s+)?(\w+)"#)

    static func findings(in file: SourceFile) -> [Finding] {
        guard file.isSwift, let target = file.target else { return [] }
        guard let allowed = allowed[target] else {
            return [Finding(path: file.path, line: 1, message: "\(target) is not in the table of arrows")]
        }
        return file.code.enumerated().compactMap { index, line in
            guard let module = statement.capture(in: line), ours.contains(module) else { return nil }
            let line = index + 1
            if !allowed.contains(module) {
                return Finding(path: file.path, line: line, message: "\(target) must not import \(module)")
            }
            if module == "CSoup", target == "KizunaTransport", !file.folders.contains("Linux") {
                return Finding(path: file.path, line: line, message: "CSoup belongs into a Linux folder")
            }
            return nil
        }
    }
}
