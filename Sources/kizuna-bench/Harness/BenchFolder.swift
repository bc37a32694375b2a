internal import Foundation

/// Runs a benchmark with a temporary folder and removes the folder.
func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kizuna-bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    do {
        let result = try await body(folder)
        try FileManager.default.removeItem(at: folder)
        return result
    } catch {
        try FileManager.default.removeItem(at: folder)
        throw error
    }
}

/// The error of a benchmark that could not run.
struct BenchFault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
