internal import KizunaCore

/// The value that a path selects in a row.
enum Cell {
    /// The row does not have the column, or the path cannot be evaluated.
    case undecided
    /// SQL null.
    ///
    /// A JSON null in a column without a declared type counts as SQL null: a write through PostgREST never stores the
    /// JSON value null in a `jsonb` column, only SQL does (docs/decisions/030-nulls-of-undeclared-columns.md).
    case null
    /// A JSON null of a `json` or `jsonb` column: the server writes SQL null and the JSON value in the same way.
    case nullOrJSONNull
    /// A value of the type that `kind(of:inColumnOf:)` returns.
    case value(RawJSON)
    /// The result of `->>` for a value whose text PostgreSQL may write in another way.
    case opaque(RawJSON)
}

extension Cell {
    /// Returns the type of a path's value, nil if it is not declared: the column's type, text for `->>`, otherwise
    /// JSON.
    static func kind(of path: ColumnPath, inColumnOf kind: KizunaColumnType.Kind?) -> KizunaColumnType.Kind? {
        guard let last = path.steps.last else { return kind }
        return last.isText ? .text(isByteOrdered: false) : kind == .json ? .json : .jsonb
    }

    /// Evaluates a path in a column of this type.
    static func find(_ path: ColumnPath, in row: RowView, _ kind: KizunaColumnType.Kind?) -> Cell {
        guard let json = row[path.column] else { return .undecided }
        guard path.steps.isEmpty else { return follow(path.steps[...], json, kind) }
        guard json.isNull else { return .value(json) }
        return kind == .json || kind == .jsonb ? .nullOrJSONNull : .null
    }

    private static func follow(_ steps: ArraySlice<PathStep>, _ json: RawJSON, _ kind: KizunaColumnType.Kind?) -> Cell {
        var json = json
        if json.isNull {
            // `'null'::jsonb -> 0` is the JSON null: jsonb treats a scalar as an array of one element.
            if kind == .jsonb, case .index? = steps.first?.operand { return .undecided }
            return .null
        }
        for (at, step) in zip(steps.indices, steps) {
            let isLast = at == steps.endIndex - 1
            switch child(step.operand, of: json) {
            case .undecided: return .undecided
            case .rejected: return .null
            case .value(let found): json = found
            }
            if step.isText { return isLast ? text(json) : .undecided }
        }
        return .value(json)
    }

    /// Evaluates one arrow; `rejected` means SQL null.
    private static func child(_ operand: PathStep.Operand, of json: RawJSON) -> Reading<RawJSON> {
        switch (operand, json.kind) {
        case (.key(let key), .object):
            guard let members = try? json.objectMembers() else { return .undecided }
            let named = members.filter { WireText.areSame($0.name, key) }
            if named.count > 1 { return .undecided }
            return named.first.map { .value($0.value) } ?? .rejected
        case (.index(let index), .array):
            guard let elements = try? json.arrayElements() else { return .undecided }
            let at = index < 0 ? elements.count + index : index
            return elements.indices.contains(at) ? .value(elements[at]) : .rejected
        case (.key, _), (.index, .object): return .rejected
        // An index into a scalar differs between json and jsonb.
        case (.index, _): return .undecided
        }
    }

    /// Returns the result of `->>`.
    private static func text(_ json: RawJSON) -> Cell {
        switch json.kind {
        case .null: return .null
        case .string, .boolean: break
        case .number:
            let isPlain = !json.bytes.contains { $0 | 0x20 == UInt8(ascii: "e") }
            let isNegativeZero = json.bytes.first == UInt8(ascii: "-") && DecimalText(json.bytes)?.isZero != false
            guard isPlain, !isNegativeZero else { return .opaque(json) }
        case .array, .object: return .opaque(json)
        }
        guard let text = json.scalarText else { return .undecided }
        return .value(RawJSON(string: text))
    }
}
