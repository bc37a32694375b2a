internal import KizunaCore

/// Comparisons of a cell whose column's type is not declared: what every type its JSON can come from would answer.
///
/// Each possible type is a world. A world whose type refuses the operand drops out, since there the server refuses the
/// whole request; a world that cannot be decided makes the answer undecided.
enum UndeclaredComparison {
    /// How the cell may stand to the operand; nil where that is undecided.
    static func outcomes(_ json: RawJSON, _ operand: String) -> Set<Compared>? {
        switch json.kind {
        case .boolean: worlds(json, operand, [.bool, .jsonb])
        case .number: worlds(json, operand, numberKinds(json.bytes))
        case .string: json.stringValue.flatMap { strings(json, $0, operand) }
        case .null, .array, .object: nil
        }
    }

    private static func worlds(
        _ json: RawJSON, _ operand: String, _ kinds: [KizunaColumnType.Kind]
    ) -> Set<Compared>? {
        var outcomes: Set<Compared> = []
        for kind in kinds {
            let reader = TypeReader(kind: kind, isSessionZoneUTC: true)
            switch reader.operand(operand) {
            case .refused: continue
            case .undecided: return nil
            case .value(let wanted):
                guard case .value(let cell) = reader.cell(json) else { return nil }
                outcomes.insert(TypedValue.compare(cell, wanted))
            }
        }
        return outcomes.isEmpty ? nil : outcomes
    }

    /// The types a JSON number can come from. PostgreSQL writes a `real` with at most 9 digits and a `double precision`
    /// with at most 17, and switches to an exponent at 10^6 and 10^15: longer plain integers come from neither.
    private static func numberKinds(_ bytes: [UInt8]) -> [KizunaColumnType.Kind] {
        let digits = bytes.filter(DecimalText.isDigit).count
        let isInteger = bytes.allSatisfy { DecimalText.isDigit($0) || $0 == UInt8(ascii: "-") }
        var kinds: [KizunaColumnType.Kind] = [.numeric, .jsonb]
        if isInteger, Int64(String(decoding: bytes, as: UTF8.self)) != nil { kinds.append(.integer(bits: 64)) }
        if isInteger ? digits <= 15 : digits <= 22 { kinds.append(.float8) }
        if isInteger ? digits <= 6 : digits <= 13 { kinds.append(.float4) }
        return kinds
    }

    // MARK: - Strings

    private static func strings(_ json: RawJSON, _ text: String, _ operand: String) -> Set<Compared>? {
        var outcomes: Set<Compared> = []
        // A jsonb string, where the operand is JSON at all.
        switch JSONTree.operand(operand) {
        case .value(let wanted): outcomes.insert(JSONTree.compare(.string(Array(text.utf8)), wanted))
        case .undecided: return nil
        case .refused: break
        }
        if WireText.areSame(text, operand) {
            outcomes.insert(.equal)
            return outcomes
        }
        guard differLoosely(text, operand) else { return nil }
        outcomes.insert(.different)
        if let kind = shape(of: text) {
            let reader = TypeReader(kind: kind, isSessionZoneUTC: true)
            guard case .value(let cell) = reader.cell(json) else { return nil }
            switch reader.operand(operand) {
            case .value(let wanted): outcomes.insert(TypedValue.compare(cell, wanted))
            case .refused: break
            case .undecided: return nil
            }
            return outcomes
        }
        return isWord(text) && isWordOperand(operand, text) ? outcomes : nil
    }

    /// The one type besides text whose output looks like this.
    private static func shape(of text: String) -> KizunaColumnType.Kind? {
        if UUIDText.isCanonical(text) { return .uuid }
        guard text.utf8.first.map(DecimalText.isDigit) == true else { return nil }
        if TimeText.isDay(text) { return .date }
        guard case .value = TimeText.timestamp(text, zone: .none) else { return nil }
        if case .value = TimeText.timestamp(text, zone: .session(isUTC: false)) { return .timestamptz }
        return .timestamp
    }

    /// Printable ASCII that begins with a letter and is no word other types write.
    private static func isWord(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        let foreign = Set("\"$'()/:<>[\\]{}".utf8)
        guard text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && !foreign.contains($0) }) else { return false }
        guard !["infinity", "nan", "empty", "true", "false"].contains(text.lowercased()) else { return false }
        // An interval in ISO style: P1DT2H.
        let isInterval = first == UInt8(ascii: "P") && text.utf8.dropFirst().first.map { !isLetter($0) } == true
        return !isInterval && !text.hasPrefix("PT")
    }

    /// An operand that no other type would take for the same value: a word, not a qualified name of this one.
    private static func isWordOperand(_ operand: String, _ text: String) -> Bool {
        guard let first = operand.utf8.first, isLetter(first), !operand.contains("\"") else { return false }
        return operand.split(separator: ".").last.map { differLoosely(String($0), text) } ?? false
    }

    /// Whether two ASCII texts differ by more than case, blanks and punctuation, so that no collation equates them.
    private static func differLoosely(_ lhs: String, _ rhs: String) -> Bool {
        guard PatternMatcher.isASCII(lhs), PatternMatcher.isASCII(rhs) else { return false }
        func essence(_ text: String) -> [UInt8] {
            text.lowercased().utf8.filter { isLetter($0) || DecimalText.isDigit($0) }
        }
        return essence(lhs) != essence(rhs)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
