import Foundation
import KizunaCore

/// The JSON files of `Tests/SpecCases`.
enum SpecCases {
    static func load(_ name: String, file: String = #filePath) throws -> RawJSON {
        var folder = URL(fileURLWithPath: file)
        while folder.lastPathComponent != "Tests" { folder.deleteLastPathComponent() }
        let data = try Data(contentsOf: folder.appendingPathComponent("SpecCases").appendingPathComponent(name))
        return try RawJSON(validating: Array(data))
    }
}

extension RawJSON {
    /// A member's text; empty where there is none.
    func text(_ name: String) -> String { member(name)?.stringValue ?? "" }

    /// A member's elements; empty where there is none.
    func list(_ name: String) -> [RawJSON] { (try? member(name)?.arrayElements()) ?? [] }
}
