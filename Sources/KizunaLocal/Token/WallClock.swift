internal import CSoup

/// The time of day, for the claims of tokens.
enum WallClock {
    /// Seconds since 1970.
    static var seconds: Int { Int(g_get_real_time() / 1_000_000) }
}
