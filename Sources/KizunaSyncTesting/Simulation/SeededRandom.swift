/// A small random generator whose whole future follows from its seed (SplitMix64).
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Makes a generator; the same seed gives the same numbers for ever.
    public init(seed: UInt64) { state = seed }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A fraction of `[0, 1)`.
    public mutating func fraction() -> Double {
        Double(next() >> 11) / Double(1 << 53)
    }

    /// Answers true in the given share of calls: 0 is never, 1 is always.
    public mutating func chance(_ share: Double) -> Bool {
        fraction() < share
    }

    /// A generator of its own whose numbers do not depend on how many this one gives out later.
    public mutating func fork() -> SeededRandom {
        SeededRandom(seed: next())
    }
}
