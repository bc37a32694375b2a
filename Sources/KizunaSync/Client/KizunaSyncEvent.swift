/// Something that happened in the client, for an app or a scheduler that wants to know.
///
/// See docs/spec/scheduling.md, Client events.
public enum KizunaSyncEvent: Sendable, Equatable {
    /// Rows of these tables changed on this device: by a write, an answer or a verdict.
    case localChanged(tables: Set<String>)
    /// How many writes wait for their verdict; told when it grows and when it falls.
    case queueDepth(Int)
    /// The server refused a write for good; it waits in `rejectedMutations`.
    case mutationRejected(id: String)
    /// Another user's rows are served from now on, or nobody's.
    case ownerChanged
    /// A token of another user came while the policy is to block; nothing is sent until `reset()`.
    case resetRequired(reason: String)
    /// A store was found damaged when it was opened. The first one's is in `syncStatus.damage`, since it is opened before
    /// anyone can subscribe.
    case storeDamaged(KizunaStoreDamage)
    /// `create(_:)` was called again: this subscription ends, and one on the new engine can be made.
    case engineReplaced
}

/// A subscription made with `KizunaSyncClient.on(_:)`.
public struct KizunaSyncEventSubscription: Sendable {
    private let onCancel: @Sendable () -> Void

    package init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    /// Ends the subscription. Calling it again does nothing.
    public func cancel() { onCancel() }
}

/// Where a client stands with the server.
public struct KizunaSyncCheckpoint: Sendable, Equatable {
    /// Where the pull of replicated tables stands; nil while no table is replicated.
    public let cursor: String?
    /// Whether nothing is sent until `reset()`: a token of another user came while the policy is to block.
    public let softBlocked: Bool
    /// Why, `identity_changed`; nil when not blocked.
    public let softBlockReason: String?

    package init(cursor: String?, softBlocked: Bool, softBlockReason: String?) {
        self.cursor = cursor
        self.softBlocked = softBlocked
        self.softBlockReason = softBlockReason
    }
}
