package import KizunaCore

/// The filters of a request, parsed.
package struct FilterExpression: Sendable, Hashable {
    let nodes: [FilterNode]

    /// Parses the filters of a request. A referenced table joined with `!inner` makes every row undecidable.
    package init(_ request: TableRequest) {
        self.init(filters: request.filters, select: request.selectList)
    }

    /// Parses the filters of an update or delete.
    package init(filters: [QueryItem], select: SelectList = SelectList(parsing: "*")) {
        let names = select.embeds.flatMap { [$0.name, $0.target] }
        let parser = FilterParser(embedNames: Set(names))
        nodes = filters.map(parser.node) + (select.embeds.contains(where: \.isInner) ? [.undecidable] : [])
    }

    /// Whether every row matches.
    package var isEmpty: Bool { nodes.isEmpty }

    /// Compiles the filters for a table with these types.
    package func compiled(for types: TableTypes) -> CompiledFilter { CompiledFilter(nodes, types) }

    /// Returns the truth value of the filters for one row.
    package func evaluate(_ row: RowView, in types: TableTypes) -> Truth { compiled(for: types).evaluate(row) }

    /// The columns that the filters read.
    package var columns: Set<String> {
        var columns: Set<String> = []
        forEachNode { if case .test(let test) = $0 { columns.insert(test.path.column) } }
        return columns
    }

    /// Whether a part could not be parsed; it may read any column.
    package var readsUnknownColumns: Bool {
        var isUnknown = false
        forEachNode { if $0 == .undecidable { isUnknown = true } }
        return isUnknown
    }

    /// Returns the primary keys that `eq` and `in` on the key columns allow; nil if other keys may match.
    ///
    /// Further filters only remove rows. The result is also nil for a text that the server could read as another
    /// spelling of a key (`05`, a UUID in braces), unless the column is known to hold texts: such a filter has to be
    /// evaluated for each row.
    package func pinnedKeys(keyColumns: [String], types: TableTypes = TableTypes()) -> [RowKey]? {
        var rows: [[String]] = [[]]
        for column in keyColumns {
            guard let texts = pinnedTexts(of: column), rows.count * texts.count <= 10_000 else { return nil }
            if case .text? = types.columns[column]?.kind {
                // A text has one spelling.
            } else {
                guard texts.allSatisfy(Self.isPlainKeyText) else { return nil }
            }
            rows = rows.flatMap { row in texts.map { row + [$0] } }
        }
        return keyColumns.isEmpty ? nil : rows.map(RowKey.init(components:))
    }

    // MARK: -

    private func pinnedTexts(of column: String) -> [String]? {
        for case .test(let test) in conjuncts(nodes) where WireText.areSame(test.path.column, column) {
            guard test.path.steps.isEmpty else { continue }
            switch test.operation {
            case .compare(.eq, nil, let text): return [text]
            case .list(let texts): return texts
            default: continue
            }
        }
        return nil
    }

    private func conjuncts(_ nodes: [FilterNode]) -> [FilterNode] {
        nodes.flatMap { node -> [FilterNode] in
            if case .all(let inner) = node { return conjuncts(inner) }
            return [node]
        }
    }

    private static func isPlainKeyText(_ text: String) -> Bool {
        guard let first = text.utf8.first, WireText.areSame(WireCursor.trimmed(text), text) else { return false }
        if UUIDText.bytes(text) != nil { return text.utf8.count == 36 && first != UInt8(ascii: "{") }
        if DecimalText.isDigit(first) || first == UInt8(ascii: "-") {
            return Int64(text).map { "\($0)" == text } ?? isRandomWord(text)
        }
        return first != UInt8(ascii: "+") && first != UInt8(ascii: "{") && first != UInt8(ascii: ".")
    }

    /// Whether a text looks like a ULID or a similar random key: too long, and with too many letters, for a number, a
    /// date, a time or an interval that begins with a digit.
    private static func isRandomWord(_ text: String) -> Bool {
        var letters = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): letters += 1
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): break
            default: return false
            }
        }
        let isOfOtherBase = text.dropFirst().first.map { "xXoObB".contains($0) } ?? false
        return text.utf8.count >= 20 && letters >= 5 && !isOfOtherBase
    }

    private func forEachNode(_ body: (FilterNode) -> Void) {
        func visit(_ node: FilterNode) {
            body(node)
            switch node {
            case .all(let inner), .any(let inner): inner.forEach(visit)
            case .not(let inner): visit(inner)
            case .test, .undecidable: break
            }
        }
        nodes.forEach(visit)
    }
}
