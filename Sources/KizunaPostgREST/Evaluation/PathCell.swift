internal import KizunaCore

/// What a filter finds in a row.
enum Cell {
    /// The row does not carry the column, or the path is not followed here.
    case undecided
    /// SQL null, in a column or path of this type where it is known.
    ///
    /// A JSON null in a column without declared type counts as SQL null: what the REST interface writes never puts the
    /// JSON value into a `jsonb` column, only SQL does.
    case null(KizunaColumnType.Kind?)
    /// A JSON null of a `json` or `jsonb` column: SQL null or the JSON value, both are written alike.
    case nullOrJSONNull(KizunaColumnType.Kind)
    /// A value of a declared type, or of any type its JSON can come from.
    case value(RawJSON, KizunaColumnType.Kind?)
    /// A value of `json` or `jsonb` that `->` took, or the text `->>` made of one.
    case path(RawJSON, KizunaColumnType.Kind)
}

extension Cell {
    /// Finds a column, and follows a path into it.
    static func find(_ path: ColumnPath, in row: RowView, _ types: TableTypes) -> Cell {
        guard let json = row[path.column] else { return .undecided }
        let kind = types.columns[path.column]?.kind
        guard path.steps.isEmpty else { return follow(path.steps[...], json, kind) }
        guard json.isNull else { return .value(json, kind) }
        return kind == .json || kind == .jsonb ? .nullOrJSONNull(kind ?? .jsonb) : .null(kind)
    }

    private static func follow(_ steps: ArraySlice<PathStep>, _ json: RawJSON, _ kind: KizunaColumnType.Kind?) -> Cell {
        var json = json
        let result: KizunaColumnType.Kind =
            steps.last?.isText == true ? .text(isByteOrdered: false) : kind == .json ? .json : .jsonb
        if json.isNull {
            // `'null'::jsonb -> 0` is the JSON null itself: jsonb takes a scalar for an array of one.
            if kind == .jsonb, case .index? = steps.first?.operand { return .undecided }
            return .null(result)
        }
        for (at, step) in zip(steps.indices, steps) {
            let isLast = at == steps.endIndex - 1
            switch child(step.operand, of: json) {
            case .undecided: return .undecided
            case .refused: return .null(result)
            case .value(let found): json = found
            }
            if step.isText { return isLast ? text(json) : .undecided }
        }
        return .path(json, result)
    }

    /// One arrow; `refused` stands for SQL null here.
    private static func child(_ operand: PathStep.Operand, of json: RawJSON) -> Reading<RawJSON> {
        switch (operand, json.kind) {
        case (.key(let key), .object):
            guard let members = try? json.objectMembers() else { return .undecided }
            let named = members.filter { WireText.areSame($0.name, key) }
            if named.count > 1 { return .undecided }
            return named.first.map { .value($0.value) } ?? .refused
        case (.index(let index), .array):
            guard let elements = try? json.arrayElements() else { return .undecided }
            let at = index < 0 ? elements.count + index : index
            return elements.indices.contains(at) ? .value(elements[at]) : .refused
        case (.key, _), (.index, .object): return .refused
        // An index into a scalar differs between json and jsonb.
        case (.index, _): return .undecided
        }
    }

    /// What `->>` makes of a value.
    private static func text(_ json: RawJSON) -> Cell {
        switch json.kind {
        case .null: return .null(.text(isByteOrdered: false))
        case .string, .boolean: break
        case .number:
            let isPlain = !json.bytes.contains { $0 | 0x20 == UInt8(ascii: "e") }
            let isNegativeZero = json.bytes.first == UInt8(ascii: "-") && DecimalText(json.bytes)?.isZero != false
            guard isPlain, !isNegativeZero else { return .path(json, .opaque) }
        case .array, .object: return .path(json, .opaque)
        }
        guard let text = json.scalarText else { return .undecided }
        return .path(RawJSON(string: text), .text(isByteOrdered: false))
    }
}
