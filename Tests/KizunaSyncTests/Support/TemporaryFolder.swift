import Foundation
import TestSupport

/// Runs a body with a folder of its own, which is removed afterwards.
func withTemporaryFolder<Outcome>(_ body: (URL) throws -> Outcome) throws -> Outcome {
    let folder = try ScratchFolder()
    return try withExtendedLifetime(folder) { try body(folder.url) }
}
