/// The feature folders of `Sources/KizunaSync` and the order in which they may use each other.
///
/// A folder may use the types of the folders before it. That leaves no cycle.
enum FolderOrder {
    static let folders = [
        "Concurrency", "Wire", "Owners", "Requests", "Refresh", "Overlay", "Reads", "Writes", "Client", "Scheduling",
        "Observation",
    ]

    private static let root = "Sources/KizunaSync/"
    private static let declaration = Pattern(
        #"^(?:(?:public|package|internal|final|indirect)\s+)*(?:struct|class|enum|protocol|actor|typealias)\s+(\w+)"#)

    private static func folder(of file: SourceFile) -> String? {
        guard file.path.hasPrefix(root), file.folders.count > 2 else { return nil }
        return file.folders[2]
    }

    /// One finding for each use of a type of a later folder, and for each folder that is not in the order.
    static func findings(in files: [SourceFile]) -> [Finding] {
        var places: [String: Int] = [:]
        var findings: [Finding] = []
        for file in files {
            guard let folder = folder(of: file) else { continue }
            guard let place = folders.firstIndex(of: folder) else {
                findings.append(Finding(path: file.path, line: 1, message: "the folder has no place in FolderOrder"))
                continue
            }
            for name in file.code.compactMap({ declaration.capture(in: $0) }) where places[name] == nil {
                places[name] = place
            }
        }
        for file in files {
            guard let place = folder(of: file).flatMap({ folders.firstIndex(of: $0) }) else { continue }
            for (index, line) in file.code.enumerated() {
                for word in words(of: line) {
                    guard let other = places[word], other > place else { continue }
                    findings.append(
                        Finding(
                            path: file.path, line: index + 1, message: "uses \(word) of the later \(folders[other])"))
                }
            }
        }
        return findings
    }

    private static func words(of line: String) -> Set<String> {
        Set(line.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
    }
}
