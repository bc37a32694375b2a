/// A value of one PostgreSQL type, compared as on the server.
enum TypedValue: Sendable, Hashable {
    case integer(Int64)
    case decimal(DecimalText)
    case double(Double)
    case float(Float)
    case bool(Bool)
    /// Text, UUIDs and `bytea`, with or without an order by bytes.
    case bytes([UInt8], isOrdered: Bool)
    case array([TypedValue?])
    case json(JSONTree)

    /// Compares two values of the same type.
    static func compare(_ lhs: TypedValue, _ rhs: TypedValue) -> Compared {
        switch (lhs, rhs) {
        case (.integer(let left), .integer(let right)): Compared(left, right)
        case (.decimal(let left), .decimal(let right)): DecimalText.order(left, right)
        case (.double(let left), .double(let right)): floating(left, right)
        case (.float(let left), .float(let right)): floating(left, right)
        case (.bool(let left), .bool(let right)): Compared(left ? 1 : 0, right ? 1 : 0)
        case (.bytes(let left, let isOrdered), .bytes(let right, _)): bytes(left, right, isOrdered)
        case (.array(let left), .array(let right)): arrays(left, right)
        case (.json(let left), .json(let right)): JSONTree.compare(left, right)
        default: .different
        }
    }

    /// Whether two array elements are equal; a null equals nothing.
    static func areEqual(_ lhs: TypedValue?, _ rhs: TypedValue?) -> Bool {
        guard let lhs, let rhs else { return false }
        return compare(lhs, rhs) == .equal
    }

    private static func floating<Number: BinaryFloatingPoint>(_ lhs: Number, _ rhs: Number) -> Compared {
        if lhs.isNaN || rhs.isNaN { return Compared(lhs.isNaN ? 1 : 0, rhs.isNaN ? 1 : 0) }
        return Compared(lhs, rhs)
    }

    private static func bytes(_ lhs: [UInt8], _ rhs: [UInt8], _ isOrdered: Bool) -> Compared {
        if lhs == rhs { return .equal }
        guard isOrdered else { return .different }
        return lhs.lexicographicallyPrecedes(rhs) ? .less : .greater
    }

    /// By elements, then by length. Null is equal to null and greater than any value.
    private static func arrays(_ lhs: [TypedValue?], _ rhs: [TypedValue?]) -> Compared {
        for (left, right) in zip(lhs, rhs) {
            let order: Compared
            if let left, let right {
                order = compare(left, right)
            } else {
                order = Compared(left == nil ? 1 : 0, right == nil ? 1 : 0)
            }
            if order != .equal { return order }
        }
        return Compared(lhs.count, rhs.count)
    }
}
