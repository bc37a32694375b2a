internal import KizunaCore

/// The owner of a store's rows: one user, or nobody.
package struct OwnerID: Hashable, Sendable, CustomStringConvertible {
    /// `nobody`, or `user:` and the user's id.
    package let text: String

    package static let nobody = OwnerID(text: "nobody")
    package static func user(_ id: String) -> OwnerID { OwnerID(text: "user:\(id)") }

    package init(text: String) { self.text = text }

    /// The user's id, nil for nobody.
    package var userID: String? { text.hasPrefix("user:") ? String(text.dropFirst(5)) : nil }

    /// Tells nobody from somebody; a user's id stays out of logs.
    package var description: String { self == .nobody ? "nobody" : "user" }
}
