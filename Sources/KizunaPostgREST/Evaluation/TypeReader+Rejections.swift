extension TypeReader {
    /// Whether the server rejects the operation on this type, or may reject it; then also a null has no result.
    func rejects(_ operation: FilterOperation) -> Bool {
        switch operation {
        case .isOperand(let operand): operand != .null && operand != .notNull && kind != .bool
        case .compare(_, nil, let text), .isDistinct(let text): rejects(text)
        case .list(let members): kind == .json || isArray || members.contains(where: rejects)
        case .compare(_, _?, let literal): kind == .json || isArray || isRejected(elementsOf: literal)
        case .like, .match: !isText
        case .contains(let text), .containedBy(let text): !isContainer || rejects(text)
        case .overlaps(let text): kind == .jsonb || !isContainer || rejects(text)
        case .opaque: false
        }
    }

    /// Whether the server rejects an operand, or it cannot be read here. Unknown for types that are not implemented.
    func rejects(_ text: String) -> Bool {
        if kind == .opaque { return false }
        if case .value = operand(text) { return false }
        return true
    }

    private func isRejected(elementsOf literal: String) -> Bool {
        guard case .value(let elements) = ArrayLiteral.elements(literal) else { return false }
        return elements.contains { $0.map(rejects) ?? false }
    }

    private var isArray: Bool {
        if case .array = kind { return true }
        return false
    }

    private var isText: Bool {
        switch kind {
        case .text, .padded, .citext, .opaque, .bytea: true
        default: false
        }
    }

    private var isContainer: Bool {
        switch kind {
        case .array, .jsonb, .range, .opaque: true
        default: false
        }
    }
}
