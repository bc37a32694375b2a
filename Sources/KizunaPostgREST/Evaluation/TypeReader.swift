internal import KizunaCore

/// Reads cells and operands as one PostgreSQL type (docs/spec/postgrest.md, Column types).
struct TypeReader {
    typealias Kind = KizunaColumnType.Kind

    let kind: Kind
    let isSessionZoneUTC: Bool

    /// Reads the text of an operand as the server does for this type.
    func operand(_ text: String) -> Reading<TypedValue> {
        switch kind {
        case .integer(let bits): return integer(text, bits)
        case .numeric: return number(text).map { .decimal($0) }
        case .float8: return floating(text).map { .double($0) }
        case .float4: return floating(text).map { .float($0) }
        case .bool: return boolean(text)
        case .text(let isByteOrdered): return .value(.bytes(Array(text.utf8), isOrdered: isByteOrdered))
        case .padded: return .value(padded(text))
        case .citext: return folded(text)
        case .uuid: return UUIDText.bytes(text).map { .value(.bytes($0, isOrdered: true)) } ?? .rejected
        case .date, .timestamp, .timestamptz, .time: return temporal(text)
        case .bytea: return HexText.bytes(text).map { .value(.bytes($0, isOrdered: true)) } ?? .undecided
        case .enumeration(let labels):
            return labels.firstIndex { WireText.areSame($0, text) }.map { .value(.integer(Int64($0))) } ?? .rejected
        case .jsonb: return JSONTree.operand(text).map { .json($0) }
        case .array(let element): return array(text, element)
        case .json, .range, .opaque: return .undecided
        }
    }

    /// Reads a cell, as the server wrote it or as the app sends it. A null is handled by the caller.
    func cell(_ json: RawJSON) -> Reading<TypedValue> {
        switch (kind, json.kind) {
        case (.jsonb, _): return JSONTree(json).map { .value(.json($0)) } ?? .undecided
        case (.bool, .boolean): return .value(.bool(json.bytes.first == UInt8(ascii: "t")))
        case (.integer(let bits), .number):
            guard let value = DecimalText.plainInteger(json.bytes, digits: 18) else { return operand(json.text) }
            return value >> (bits - 1) == value >> 63 ? .value(.integer(value)) : .rejected
        case (.numeric, .number), (.float8, .number), (.float4, .number): return operand(json.text)
        case (.numeric, .string), (.float8, .string), (.float4, .string):
            guard let text = json.stringValue, DecimalText(special: text) != nil else { return .undecided }
            return operand(text)
        case (.array(let element), .array): return array(json, element)
        case (.bool, _), (.integer, _), (.numeric, _), (.float8, _), (.float4, _), (.array, _): return .undecided
        case (_, .string): return json.stringValue.map(operand) ?? .undecided
        default: return .undecided
        }
    }

    // MARK: - Numbers

    private func integer(_ text: String, _ bits: Int) -> Reading<TypedValue> {
        let trimmed = Self.withoutBlanks(text)
        var digits = trimmed[...]
        if digits.first == UInt8(ascii: "-") || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
        guard !digits.isEmpty, digits.allSatisfy(DecimalText.isDigit) else {
            // Every server rejects a fraction or exponent; newer ones accept hexadecimal digits and underscores.
            let isOtherNumber =
                DecimalText(trimmed) != nil || DecimalText(special: String(decoding: trimmed, as: UTF8.self)) != nil
            return isOtherNumber ? .rejected : Self.notANumber(trimmed)
        }
        guard let value = Int64(String(decoding: trimmed, as: UTF8.self)) else { return .rejected }
        let limit = Int64(1) << (bits - 1) &- 1
        return value > limit || value < -limit - 1 ? .rejected : .value(.integer(value))
    }

    private func number(_ text: String) -> Reading<DecimalText> {
        let trimmed = Self.withoutBlanks(text)
        if let value = DecimalText(trimmed) ?? DecimalText(special: String(decoding: trimmed, as: UTF8.self)) {
            return .value(value)
        }
        return Self.notANumber(trimmed)
    }

    private func floating<Number: BinaryFloatingPoint & LosslessStringConvertible & Sendable>(
        _ text: String
    ) -> Reading<Number> {
        let trimmed = Self.withoutBlanks(text)
        let plain = String(decoding: trimmed, as: UTF8.self)
        if DecimalText(special: plain) != nil {
            let lowered = plain.lowercased()
            return .value(lowered == "nan" ? .nan : lowered.hasPrefix("-") ? -.infinity : .infinity)
        }
        guard let exact = DecimalText(trimmed) else { return Self.notANumber(trimmed) }
        let spelled =
            plain.hasSuffix(".") ? plain + "0" : plain.replacing(".e", with: ".0e").replacing(".E", with: ".0E")
        guard let value = Number(spelled), value.isFinite, value.isNormal || exact.isZero else { return .undecided }
        return .value(value)
    }

    /// The server rejects a text that does not begin as a number; another text may be a spelling of a newer server.
    private static func notANumber<Value>(_ trimmed: [UInt8]) -> Reading<Value> {
        guard let first = trimmed.first else { return .rejected }
        let isLikeNumber = DecimalText.isDigit(first) || "+-.nNiI".utf8.contains(first)
        return isLikeNumber ? .undecided : .rejected
    }

    // MARK: - Texts

    private func padded(_ text: String) -> TypedValue {
        var bytes = Array(text.utf8)
        while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
        return .bytes(bytes, isOrdered: false)
    }

    private func folded(_ text: String) -> Reading<TypedValue> {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return .undecided }
        return .value(.bytes(Array(text.lowercased().utf8), isOrdered: false))
    }

    private func boolean(_ text: String) -> Reading<TypedValue> {
        let word = String(decoding: Self.withoutBlanks(text), as: UTF8.self).lowercased()
        switch word {
        case "1", "on": return .value(.bool(true))
        case "0", "of", "off": return .value(.bool(false))
        case "": return .rejected
        default: break
        }
        if "true".hasPrefix(word) || "yes".hasPrefix(word) { return .value(.bool(true)) }
        if "false".hasPrefix(word) || "no".hasPrefix(word) { return .value(.bool(false)) }
        return .rejected
    }

    // MARK: - Times

    private func temporal(_ text: String) -> Reading<TypedValue> {
        let reading =
            switch kind {
            case .date: TimeText.date(text)
            case .timestamp: TimeText.timestamp(text, zone: .none)
            case .timestamptz: TimeText.timestamp(text, zone: .session(isUTC: isSessionZoneUTC))
            default: TimeText.time(text)
            }
        return reading.map { .integer($0) }
    }

    // MARK: - Arrays

    private func array(_ text: String, _ element: Kind) -> Reading<TypedValue> {
        guard case .value(let texts) = ArrayLiteral.elements(text) else { return .undecided }
        let reader = TypeReader(kind: element, isSessionZoneUTC: isSessionZoneUTC)
        return Self.gathered(texts.map { $0.map(reader.operand) })
    }

    private func array(_ json: RawJSON, _ element: Kind) -> Reading<TypedValue> {
        guard let elements = try? json.arrayElements(), !elements.contains(where: { $0.kind == .array }) else {
            return .undecided
        }
        switch element {
        case .json, .jsonb, .array, .opaque, .range: return .undecided
        default: break
        }
        let reader = TypeReader(kind: element, isSessionZoneUTC: isSessionZoneUTC)
        return Self.gathered(elements.map { $0.isNull ? nil : reader.cell($0) })
    }

    private static func gathered(_ readings: [Reading<TypedValue>?]) -> Reading<TypedValue> {
        var values: [TypedValue?] = []
        for reading in readings {
            switch reading {
            case nil: values.append(nil)
            case .value(let value)?: values.append(value)
            case .rejected?: return .rejected
            case .undecided?: return .undecided
            }
        }
        return .value(.array(values))
    }

    /// Removes the blanks that PostgreSQL ignores around numbers and booleans.
    private static func withoutBlanks(_ text: String) -> [UInt8] {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        var bytes = Array(text.utf8)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return Array(bytes.drop(while: isBlank))
    }
}
