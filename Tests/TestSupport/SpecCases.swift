internal import Foundation
package import KizunaCore

/// The JSON files of the tests' folders, of `Tests/SpecCases` where none is named.
package enum SpecCases {
    package static func load(_ name: String, of source: String = "SpecCases", file: String = #filePath) throws
        -> RawJSON
    {
        var folder = URL(fileURLWithPath: file)
        while folder.lastPathComponent != "Tests" { folder.deleteLastPathComponent() }
        let data = try Data(contentsOf: folder.appendingPathComponent(source).appendingPathComponent(name))
        return try RawJSON(validating: Array(data))
    }
}

extension RawJSON {
    /// A member's text; empty where there is none.
    package func text(_ name: String) -> String { member(name)?.stringValue ?? "" }

    /// A member's elements; empty where there is none.
    package func list(_ name: String) -> [RawJSON] { (try? member(name)?.arrayElements()) ?? [] }
}
