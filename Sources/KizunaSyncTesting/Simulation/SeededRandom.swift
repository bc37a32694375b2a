/// A random generator with a seed (SplitMix64).
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator; the same seed gives the same numbers.
    public init(seed: UInt64) { state = seed }

    /// Returns the next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number in `[0, 1)`.
    public mutating func fraction() -> Double {
        Double(next() >> 11) / Double(1 << 53)
    }

    /// Returns true with this probability.
    public mutating func chance(_ share: Double) -> Bool {
        fraction() < share
    }

    /// Returns an independent generator whose numbers do not depend on later draws from this one.
    public mutating func fork() -> SeededRandom {
        SeededRandom(seed: next())
    }
}
