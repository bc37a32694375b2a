/// Whether an empty response is believed while nobody is signed in.
///
/// Row level security returns an empty list instead of an error for an absent or expired identity.
///
/// See docs/spec/reads.md, Response trust.
public enum ResponseTrust: Sendable, Hashable {
    /// Every response is stored.
    case anySession
    /// An empty response is stored only for a signed-in user; a signed-out read of an empty table stays `refreshing`.
    case authenticatedSessionOnly
}
