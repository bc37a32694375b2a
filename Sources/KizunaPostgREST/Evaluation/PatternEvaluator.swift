internal import KizunaCore

/// Evaluates patterns on a cell, depending on its known type.
struct PatternEvaluator {
    let ignoringCase: Bool
    let kind: KizunaColumnType.Kind?

    func like(_ json: RawJSON, _ pattern: String) -> TruthSet {
        decide(json) { text, ignoringCase in
            ignoringCase ? PatternMatcher.ilike(text, pattern) : PatternMatcher.like(text, pattern)
        }
    }

    func match(_ json: RawJSON, _ expression: String) -> TruthSet {
        decide(json) { text, ignoringCase in PatternMatcher.match(text, expression, ignoringCase: ignoringCase) }
    }

    /// Text is always decided. A string without a declared type may be `citext`, which ignores case. A text that
    /// matches with case also matches without, so only a text that differs by case is undecided.
    private func decide(_ json: RawJSON, _ matches: (String, _ ignoringCase: Bool) -> Bool?) -> TruthSet {
        guard let text = json.stringValue else { return .any }
        switch kind {
        case .text?: return matches(text, ignoringCase).map { TruthSet($0) } ?? .any
        case .citext?: return matches(text, true).map { TruthSet($0) } ?? .any
        case nil:
            guard !text.hasPrefix("\\x") else { return .any }
            let inText = matches(text, ignoringCase)
            let inCitext = matches(text, true)
            if !ignoringCase, inText == true { return .yes }
            guard let inText, let inCitext, inText == inCitext else { return .any }
            return TruthSet(inText)
        default: return .any
        }
    }
}
