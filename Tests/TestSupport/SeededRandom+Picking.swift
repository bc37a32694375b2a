package import KizunaSyncTesting

extension SeededRandom {
    /// A number from zero up to, and without, this one.
    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// One of the elements.
    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// True once in this many times on average.
    package mutating func oneIn(_ count: UInt64) -> Bool { next() % count == 0 }
}
