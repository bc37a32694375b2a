public import Foundation
public import KizunaCore
package import KizunaStore

/// A write the server refused for good. It waits here until the app decides what becomes of it.
///
/// See docs/spec/writes.md, Rejected mutations.
public struct RejectedMutation: Sendable, Identifiable, Equatable {
    /// The write as it was queued.
    public let mutation: PendingMutation
    /// The server's answer: status, code, message, details, hint, and the constraint's name where it broke one.
    public let failure: ServerFailure
    /// The id of the refused write this one depended on, when it was not refused itself.
    public let dependsOn: String?
    /// The server's row of the same key when the write was refused, where it could be read.
    public let serverRow: RawJSON?
    /// When it was refused, by the device's clock.
    public let rejectedAt: Date

    /// The write's id.
    public var id: String { mutation.id }

    package init(_ rejected: RejectedEntry) {
        mutation = PendingMutation(rejected.entry)
        failure = rejected.failure
        dependsOn = rejected.dependsOn
        serverRow = rejected.serverRow
        rejectedAt = rejected.rejectedAt
    }
}
