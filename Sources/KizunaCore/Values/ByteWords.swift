/// Bytes compared, hashed and searched eight at a time.
package enum ByteWords {
    /// Whether two stretches of memory hold the same bytes.
    @inline(__always)
    package static func areEqual(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        guard let first = one.baseAddress, let second = other.baseAddress, first != second else { return true }
        var offset = 0
        while offset + 8 <= one.count {
            guard
                first.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                    == second.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            else { return false }
            offset += 8
        }
        while offset < one.count {
            guard one[offset] == other[offset] else { return false }
            offset += 1
        }
        return true
    }

    /// A hash that spreads well and is the same for the same bytes in one process; equal hashes do not prove equal bytes.
    package static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: bytes.count) ^ 0x9E37_79B9_7F4A_7C15
        func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
            hash ^= hash >> 32
        }
        var offset = 0
        while offset + 8 <= bytes.count {
            mix(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        mix(rest)
        return hash
    }

    /// Whether no byte has its high bit set.
    @inline(__always)
    static func areASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            guard word & 0x8080_8080_8080_8080 == 0 else { return false }
            offset += 8
        }
        while offset < bytes.count {
            guard bytes[offset] < 0x80 else { return false }
            offset += 1
        }
        return true
    }

    /// The first byte from `offset` on that ends or changes the course of a JSON string: a quote, a backslash or a control
    /// character. The end where there is none.
    @inline(__always)
    static func endOfPlainText(in bytes: UnsafeBufferPointer<UInt8>, from offset: Int) -> Int {
        var offset = offset
        if let base = UnsafeRawPointer(bytes.baseAddress) {
            while offset + 8 <= bytes.count {
                let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                // The lowest mark is exact; those above it may be false, and are not looked at.
                let marks = zeros(word ^ 0x2222_2222_2222_2222) | zeros(word ^ 0x5C5C_5C5C_5C5C_5C5C) | controls(word)
                guard marks == 0 else { return offset + marks.trailingZeroBitCount >> 3 }
                offset += 8
            }
        }
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { return offset }
            offset += 1
        }
        return offset
    }

    /// The high bit of each byte that is zero.
    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    /// The high bit of each byte below 0x20.
    @inline(__always)
    private static func controls(_ word: UInt64) -> UInt64 {
        (word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080
    }
}
