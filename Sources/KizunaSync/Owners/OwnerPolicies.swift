/// What becomes of a user's store when the user signs out, or another one signs in.
///
/// See docs/spec/owners.md, Sign-out.
public enum SignOutPolicy: Sendable, Hashable {
    /// Cached rows are removed; unsent and refused writes stay sealed in the user's store and are sent at that user's next
    /// sign-in.
    case keep
    /// Everything is removed, unsent writes too.
    case discard
    /// `signOut()` first delivers what waits, at most so long, and then removes everything. What could not be delivered by
    /// then stays sealed instead.
    case deliverThenClear(deadline: Duration)
}

/// What happens when a token of another user comes while a user's store is open.
///
/// See docs/spec/owners.md, Token of another user.
public enum IdentityPolicy: Sendable, Hashable {
    /// The store changes to the other user's; live reads go on with that user's rows alone.
    case switchOwner
    /// The present user's rows stay; nothing is sent, and the checkpoint says `softBlocked` with `identity_changed` until
    /// `reset()`.
    case block
}
