internal import KizunaCore

/// An operand for a column without a declared type, compared as each type that the cell's JSON can come from.
///
/// A type that rejects the operand is ignored, since the server then rejects the whole request. If the comparison is
/// undecided for one possible type, the result is undecided.
struct UndeclaredOperand: Sendable {
    /// One possible type, and the operand read as this type.
    private struct World: Sendable {
        let reader: TypeReader
        let operand: Reading<TypedValue>

        init(_ kind: KizunaColumnType.Kind, _ text: String) {
            reader = TypeReader(kind: kind, isSessionZoneUTC: true)
            operand = reader.operand(text)
        }

        /// Adds the comparison of a cell of this type with the operand; returns false if it is undecided.
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
    /// The integer, if every number type represents it exactly.
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
    /// The text without case, blanks and punctuation; nil if it is not ASCII.
    private let essence: [UInt8]?
    /// The same for the last part of a word or qualified name; nil if another type could accept the text.
    private let wordEssence: [UInt8]?

    /// Integers of this many digits are exact in every number type that the cell can come from.
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

    /// Returns the possible comparisons of the cell with the operand; nil if they are undecided.
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

    /// The types that a JSON number can come from. PostgreSQL writes a `real` with at most 9 digits and a `double
    /// precision` with at most 17, and uses an exponent from 10^6 and 10^15 on: longer plain integers come from
    /// neither.
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
        // A jsonb string, if the operand is JSON.
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

    /// The type besides text whose output has this form.
    private func world(ofShape text: String) -> World? {
        if UUIDText.isCanonical(text) { return uuid }
        guard text.utf8.first.map(DecimalText.isDigit) == true else { return nil }
        if TimeText.isDay(text) { return date }
        guard case .value = TimeText.timestamp(text, zone: .none) else { return nil }
        if case .value = TimeText.timestamp(text, zone: .session(isUTC: false)) { return timestamptz }
        return timestamp
    }

    private static let foreign = Set("\"$'()/:<>[\\]{}".utf8)

    /// Printable ASCII that begins with a letter and is not an output of another type.
    private static func isWord(_ text: String) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        guard text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && !foreign.contains($0) }) else { return false }
        guard !["infinity", "nan", "empty", "true", "false"].contains(text.lowercased()) else { return false }
        // An interval in ISO style: P1DT2H.
        let isInterval = first == UInt8(ascii: "P") && text.utf8.dropFirst().first.map { !isLetter($0) } == true
        return !isInterval && !text.hasPrefix("PT")
    }

    /// An operand that no other type would read as the same value: a word, and not a qualified name of the cell.
    private static func wordEssence(of operand: String) -> [UInt8]? {
        guard let first = operand.utf8.first, isLetter(first), !operand.contains("\"") else { return nil }
        return operand.split(separator: ".").last.flatMap { essence(of: String($0)) }
    }

    /// The letters and digits of an ASCII text without case. Texts that differ in them differ in every collation.
    private static func essence(of text: String) -> [UInt8]? {
        guard PatternMatcher.isASCII(text) else { return nil }
        return text.utf8.compactMap { isLetter($0) ? $0 | 0x20 : DecimalText.isDigit($0) ? $0 : nil }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
