package import Foundation

/// A folder of the test's own that goes with it.
package final class ScratchFolder: Sendable {
    package let path: String

    package init() throws {
        let template = FileManager.default.temporaryDirectory.path + "/kizuna-test-XXXXXX"
        var bytes = Array(template.utf8CString)
        guard mkdtemp(&bytes) != nil else { throw CocoaError(.fileWriteUnknown) }
        path = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package var url: URL { URL(fileURLWithPath: path) }

    /// Every file in the folder and below, as path and bytes.
    package func files() throws -> [(path: String, bytes: Data)] {
        try FileManager.default.subpathsOfDirectory(atPath: path).sorted().compactMap { name in
            let full = path + "/" + name
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: full, isDirectory: &isFolder), !isFolder.boolValue else {
                return nil
            }
            return (full, try Data(contentsOf: URL(fileURLWithPath: full)))
        }
    }
}
