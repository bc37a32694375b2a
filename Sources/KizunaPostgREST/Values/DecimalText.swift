/// A decimal number of any length, compared without rounding, with PostgreSQL's special values.
struct DecimalText: Sendable, Hashable {
    private enum Kind: Int, Sendable {
        case negativeInfinity
        case finite
        case infinity
        case notANumber
    }

    private let kind: Kind
    private let isNegative: Bool
    /// Significant digits without zeros at either end; empty for zero.
    private let digits: [UInt8]
    /// The value is 0.digits × 10^exponent.
    private let exponent: Int

    /// The largest length and exponent that is read.
    private static let sizeLimit = 2000

    static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    /// Reads `-12.5e3`, `.5`, `5.`; nil for any other text and above the limits.
    init?(_ text: some Collection<UInt8>) {
        var bytes = Array(text)[...]
        guard bytes.count <= Self.sizeLimit, let first = bytes.first else { return nil }
        isNegative = first == UInt8(ascii: "-")
        if isNegative || first == UInt8(ascii: "+") { bytes.removeFirst() }
        let whole = bytes.prefix(while: Self.isDigit)
        bytes = bytes.dropFirst(whole.count)
        var fraction: ArraySlice<UInt8> = []
        if bytes.first == UInt8(ascii: ".") {
            bytes.removeFirst()
            fraction = bytes.prefix(while: Self.isDigit)
            bytes = bytes.dropFirst(fraction.count)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var power = 0
        if let mark = bytes.first, mark | 0x20 == UInt8(ascii: "e") {
            guard let number = Int(String(decoding: bytes.dropFirst(), as: UTF8.self)),
                number.magnitude <= Self.sizeLimit
            else { return nil }
            power = number
            bytes = []
        }
        guard bytes.isEmpty else { return nil }
        var all = Array(whole) + fraction
        let zeros = all.prefix { $0 == UInt8(ascii: "0") }.count
        all.removeFirst(zeros)
        while all.last == UInt8(ascii: "0") { all.removeLast() }
        kind = .finite
        digits = all
        exponent = all.isEmpty ? 0 : whole.count - zeros + power
    }

    /// Reads `NaN`, `inf`, `-Infinity` in any case.
    init?(special text: String) {
        switch text.lowercased() {
        case "nan": kind = .notANumber
        case "inf", "infinity", "+inf", "+infinity": kind = .infinity
        case "-inf", "-infinity": kind = .negativeInfinity
        default: return nil
        }
        isNegative = false
        digits = []
        exponent = 0
    }

    /// PostgreSQL's order: `NaN` equals itself and is the greatest.
    static func order(_ lhs: DecimalText, _ rhs: DecimalText) -> Compared {
        guard lhs.kind == .finite, rhs.kind == .finite else {
            return Compared(lhs.kind.rawValue, rhs.kind.rawValue)
        }
        if lhs.sign != rhs.sign { return Compared(lhs.sign, rhs.sign) }
        let size = sizeOrder(lhs, rhs)
        return lhs.isNegative ? size.flipped : size
    }

    private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }

    private static func sizeOrder(_ lhs: DecimalText, _ rhs: DecimalText) -> Compared {
        if lhs.exponent != rhs.exponent { return Compared(lhs.exponent, rhs.exponent) }
        if lhs.digits == rhs.digits { return .equal }
        return lhs.digits.lexicographicallyPrecedes(rhs.digits) ? .less : .greater
    }
}

extension DecimalText {
    /// Whether the number is zero, of either sign.
    var isZero: Bool { self == DecimalText([UInt8(ascii: "0")]) || self == DecimalText("-0".utf8) }

    /// Reads an integer of at most this many digits in the spelling of PostgreSQL output; nil for any other text.
    static func plainInteger(_ bytes: [UInt8], digits limit: Int) -> Int64? {
        let isNegative = bytes.first == UInt8(ascii: "-")
        let first = isNegative ? 1 : 0
        guard bytes.count > first, bytes.count - first <= limit else { return nil }
        guard bytes[first] != UInt8(ascii: "0") || bytes.count == 1 else { return nil }
        var value: Int64 = 0
        for byte in bytes[first...] {
            guard isDigit(byte) else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        return isNegative ? -value : value
    }
}
