internal import KizunaCore

/// An operand for a column whose type is not declared, compared as every type the cell's JSON can come from would.
///
/// Each possible type is a world. A world whose type refuses the operand drops out, since there the server refuses the
/// whole request; a world that cannot be decided makes the answer undecided.
struct UndeclaredOperand: Sendable {
    /// One type, and the operand read as it.
    private struct World: Sendable {
        let reader: TypeReader
        let operand: Reading<TypedValue>

        init(_ kind: KizunaColumnType.Kind, _ text: String) {
            reader = TypeReader(kind: kind, isSessionZoneUTC: true)
            operand = reader.operand(text)
        }

        /// Adds how a cell of this type stands to the operand; false where that is undecided.
        func add(_ json: RawJSON, to outcomes: inout Outcomes) -> Bool {
            switch operand {
            case .rejected: return true
            case .undecided: return false
            case .value(let wanted):
                guard case .value(let cell) = reader.cell(json) else { return false }
                outcomes.insert(Outcomes(TypedValue.compare(cell, wanted)))
                return true
            }
        }
    }

    private let text: String
    /// Where every number type reads this very integer, exactly.
    private let integer: Int64?
    private let document: World
    private let bool: World
    private let int8: World
    private let numeric: World
    private let float8: World
    private let float4: World
    private let uuid: World
    private let date: World
    private let timestamp: World
    private let timestamptz: World
    /// Without case, blanks and punctuation; nil where it is not ASCII.
    private let essence: [UInt8]?
    /// The same of the last part of a word or qualified name; nil where another type might take it.
    private let wordEssence: [UInt8]?

    /// Integers of so many digits are exact in every number type the cell can come from.
    private static let exactDigits = 15

    init(_ text: String) {
        self.text = text
        document = World(.jsonb, text)
        bool = World(.bool, text)
        int8 = World(.integer(bits: 64), text)
        numeric = World(.numeric, text)
        float8 = World(.float8, text)
        float4 = World(.float4, text)
        uuid = World(.uuid, text)
        date = World(.date, text)
        timestamp = World(.timestamp, text)
        timestamptz = World(.timestamptz, text)
        integer = DecimalText.plainInteger(Array(text.utf8), digits: Self.exactDigits)
        essence = Self.essence(of: text)
        wordEssence = Self.wordEssence(of: text)
    }

    /// How the cell may stand to the operand; nil where that is undecided.
    func outcomes(of json: RawJSON) -> Outcomes? {
        switch json.kind {
        case .boolean: return outcomes(json, [bool, document])
        case .number:
            if let integer, let cell = DecimalText.plainInteger(json.bytes, digits: Self.exactDigits) {
                return Outcomes(Compared(cell, integer))
            }
            return outcomes(json, numbers(json.bytes))
        case .string: return json.stringValue.flatMap { strings(json, $0) }
        case .null, .array, .object: return nil
        }
    }

    private func outcomes(_ json: RawJSON, _ worlds: [World]) -> Outcomes? {
        var outcomes: Outcomes = []
        for world in worlds where !world.add(json, to: &outcomes) { return nil }
        return outcomes.isEmpty ? nil : outcomes
    }

    /// The types a JSON number can come from. PostgreSQL writes a `real` with at most 9 digits and a `double precision`
    /// with at most 17, and switches to an exponent at 10^6 and 10^15: longer plain integers come from neither.
    private func numbers(_ bytes: [UInt8]) -> [World] {
        let digits = bytes.count(where: DecimalText.isDigit)
        let isInteger = bytes.allSatisfy { DecimalText.isDigit($0) || $0 == UInt8(ascii: "-") }
        var worlds = [numeric, document]
        if isInteger, Int64(String(decoding: bytes, as: UTF8.self)) != nil { worlds.append(int8) }
        if isInteger ? digits <= 15 : digits <= 22 { worlds.append(float8) }
        if isInteger ? digits <= 6 : digits <= 13 { worlds.append(float4) }
        return worlds
    }

    // MARK: - Strings

    private func strings(_ json: RawJSON, _ cell: String) -> Outcomes? {
        var outcomes: Outcomes = []
        // A jsonb string, where the operand is JSON at all.
        switch document.operand {
        case .value(.json(let wanted)):
            outcomes.insert(Outcomes(JSONTree.compare(.string(Array(cell.utf8)), wanted)))
        case .undecided, .value: return nil
        case .rejected: break
        }
        if WireText.areSame(cell, text) {
            outcomes.insert(.equal)
            return outcomes
        }
        guard let essence, let cellEssence = Self.essence(of: cell), cellEssence != essence else { return nil }
        outcomes.insert(.different)
        if let world = world(ofShape: cell) { return world.add(json, to: &outcomes) ? outcomes : nil }
        return Self.isWord(cell) && wordEssence.map { $0 != cellEssence } == true ? outcomes : nil
    }

    /// The one type besides text whose output looks like this.
    private func world(ofShape text: String) -> World? {
        if UUIDText.isCanonical(text) { return uuid }
        guard text.utf8.first.map(DecimalText.isDigit) == true else { return nil }
        if TimeText.isDay(text) { return date }
        guard case .value = TimeText.timestamp(text, zone: .none) else { return nil }
        if case .value = TimeText.timestamp(text, zone: .session(isUTC: false)) { return timestamptz }
        return timestamp
    }

    private static let foreign = Set("\"$'()/:<>[\\]{}".utf8)

    /// Printable ASCII that begins with a letter and is no word other types write.
    private static func isWord(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        guard text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && !foreign.contains($0) }) else { return false }
        guard !["infinity", "nan", "empty", "true", "false"].contains(text.lowercased()) else { return false }
        // An interval in ISO style: P1DT2H.
        let isInterval = first == UInt8(ascii: "P") && text.utf8.dropFirst().first.map { !isLetter($0) } == true
        return !isInterval && !text.hasPrefix("PT")
    }

    /// An operand that no other type would take for the same value: a word, not a qualified name of the cell's.
    private static func wordEssence(of operand: String) -> [UInt8]? {
        guard let first = operand.utf8.first, isLetter(first), !operand.contains("\"") else { return nil }
        return operand.split(separator: ".").last.flatMap { essence(of: String($0)) }
    }

    /// The letters and digits of an ASCII text without case: texts that differ in them differ in every collation.
    private static func essence(of text: String) -> [UInt8]? {
        guard PatternMatcher.isASCII(text) else { return nil }
        return text.utf8.compactMap { isLetter($0) ? $0 | 0x20 : DecimalText.isDigit($0) ? $0 : nil }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
