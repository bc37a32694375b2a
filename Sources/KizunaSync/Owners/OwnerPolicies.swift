/// Decides which data of a user stays on the device when the user signs out, or when another user signs in.
///
/// See docs/spec/owners.md, Sign-out.
public enum SignOutPolicy: Sendable, Hashable {
    /// Removes cached rows. Pending and rejected mutations stay in the user's store, and are sent at that user's next sign-in.
    case keep
    /// Removes everything, pending mutations too.
    case discard
    /// `signOut()` first delivers pending mutations until the deadline, and then removes everything. Mutations that are not
    /// delivered by then are kept.
    case deliverThenClear(deadline: Duration)
}

/// Decides the response to a token of another user while a user's store is open.
///
/// See docs/spec/owners.md, Token of another user.
public enum IdentityPolicy: Sendable, Hashable {
    /// The other user's store is opened; live reads continue with that user's rows only.
    case switchOwner
    /// The current user's rows stay; nothing is sent, and the checkpoint is `softBlocked` with `identity_changed` until
    /// `reset()`.
    case block
}
