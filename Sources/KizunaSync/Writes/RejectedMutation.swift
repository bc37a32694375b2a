public import Foundation
public import KizunaCore
package import KizunaStore

/// A mutation that the server rejected. It is kept until the app calls `retry`, `edit`, `discard` or `takeTheirs`.
///
/// See docs/spec/writes.md, Rejected mutations.
public struct RejectedMutation: Sendable, Identifiable, Equatable {
    /// The mutation as it was queued.
    public let mutation: PendingMutation
    /// The server's response: status, code, message, details, hint, and the name of a violated constraint.
    public let failure: ServerFailure
    /// The id of the rejected mutation that this one depends on; nil when the server rejected this one itself.
    public let dependsOn: String?
    /// The server's row of the same key at the time of the rejection; nil when it could not be read.
    public let serverRow: RawJSON?
    /// The time of the rejection, by the device's clock.
    public let rejectedAt: Date

    /// The id of the mutation.
    public var id: String { mutation.id }

    package init(_ rejected: RejectedEntry) {
        mutation = PendingMutation(rejected.entry)
        failure = rejected.failure
        dependsOn = rejected.dependsOn
        serverRow = rejected.serverRow
        rejectedAt = rejected.rejectedAt
    }
}

extension SyncError {
    /// Makes the error of a receipt whose mutation was rejected.
    package init(rejection failure: ServerFailure, table: String) {
        self.init(
            .rejected, "The server rejected the write; it is kept in rejectedMutations.", table: table, server: failure)
    }
}
