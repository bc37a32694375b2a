/// Parses filter parameters as the server does (docs/spec/postgrest.md, Filter parameters; docs/spec/postgrest.md,
/// Logic trees and names).
struct FilterParser {
    /// The names of the referenced tables.
    let embedNames: Set<String>

    func node(_ item: QueryItem) -> FilterNode {
        item.role == .logic ? logic(item) : column(item)
    }

    private func column(_ item: QueryItem) -> FilterNode {
        guard let path = ColumnPath(parsing: item.name) else { return .undecidable }
        if !path.embeds.isEmpty { return referenced(path.embeds) }
        var cursor = WireCursor(item.value)
        guard let node = test(path, &cursor, isInTree: false), cursor.isAtEnd else { return .undecidable }
        return node
    }

    private func logic(_ item: QueryItem) -> FilterNode {
        var cursor = WireCursor(item.name)
        var names: [String] = []
        repeat {
            guard let name = cursor.name() else { return .undecidable }
            names.append(name)
        } while cursor.take(".")
        guard cursor.isAtEnd, let word = names.popLast() else { return .undecidable }
        let isNegated = names.contains("not")
        let embeds = names.filter { $0 != "not" }
        if !embeds.isEmpty { return referenced(embeds) }
        var value = WireCursor(item.value)
        guard let nodes = conditions(&value), value.isAtEnd else { return .undecidable }
        let node: FilterNode = word == "or" ? .any(nodes) : .all(nodes)
        return isNegated ? .not(node) : node
    }

    /// A filter on a referenced table does not filter the table's own rows; the caller handles inner joins.
    private func referenced(_ path: [String]) -> FilterNode {
        guard let first = path.first, embedNames.contains(first) else { return .undecidable }
        return .all([])
    }

    // MARK: - Trees

    private func conditions(_ cursor: inout WireCursor) -> [FilterNode]? {
        cursor.skipBlanks()
        guard cursor.take("(") else { return nil }
        var nodes: [FilterNode] = []
        repeat {
            cursor.skipBlanks()
            guard let node = condition(&cursor) else { return nil }
            nodes.append(node)
            cursor.skipBlanks()
        } while cursor.take(",")
        guard cursor.take(")") else { return nil }
        cursor.skipBlanks()
        return nodes
    }

    private func condition(_ cursor: inout WireCursor) -> FilterNode? {
        let start = cursor.position
        if let column = cursor.name(), let steps = cursor.pathSteps() {
            cursor.skipBlanks()
            if cursor.take("."), let node = test(ColumnPath(column: column, steps: steps), &cursor, isInTree: true) {
                return node
            }
        }
        cursor.position = start
        let isNegated = cursor.take("not.")
        let isAnd = cursor.take("and")
        guard isAnd || cursor.take("or"), let nodes = conditions(&cursor) else { return nil }
        let node: FilterNode = isAnd ? .all(nodes) : .any(nodes)
        return isNegated ? .not(node) : node
    }

    // MARK: - One test

    private func test(_ path: ColumnPath, _ cursor: inout WireCursor, isInTree: Bool) -> FilterNode? {
        let isNegated = cursor.take("not.")
        guard let operation = operation(&cursor, isInTree: isInTree) else { return nil }
        if path.steps.isEmpty, embedNames.contains(path.column) { return .undecidable }
        let node = FilterNode.test(FilterTest(path: path, operation: operation))
        return isNegated ? .not(node) : node
    }

    private func operation(_ cursor: inout WireCursor, isInTree: Bool) -> FilterOperation? {
        let word = cursor.take { ("a"..."z").contains($0) }
        var argument: String?
        if cursor.take("(") {
            argument = cursor.take { $0 != ")" && $0 != "(" }
            guard cursor.take(")") else { return nil }
        }
        guard cursor.take(".") else { return nil }
        if word.hasSuffix("fts") { return search(word, &cursor, isInTree) }
        let quantifier: FilterOperation.Quantifier?
        switch argument {
        case nil: quantifier = nil
        case "any": quantifier = .any
        case "all": quantifier = .all
        default: return nil
        }
        if let comparison = FilterOperation.Comparison(rawValue: word) {
            guard comparison != .neq || quantifier == nil else { return nil }
            return .compare(comparison, quantifier, value(&cursor, isInTree))
        }
        switch word {
        case "like", "ilike": return .like(ignoringCase: word == "ilike", quantifier, value(&cursor, isInTree))
        case "match", "imatch": return .match(ignoringCase: word == "imatch", quantifier, value(&cursor, isInTree))
        default: break
        }
        return argument == nil ? plainOperation(word, &cursor, isInTree) : nil
    }

    private func search(_ word: String, _ cursor: inout WireCursor, _ isInTree: Bool) -> FilterOperation? {
        guard ["fts", "plfts", "phfts", "wfts"].contains(word) else { return nil }
        _ = value(&cursor, isInTree)
        return .opaque
    }

    private func plainOperation(_ word: String, _ cursor: inout WireCursor, _ isInTree: Bool) -> FilterOperation? {
        switch word {
        case "in": return list(&cursor).map { .list($0 == [""] ? [] : $0) }
        case "is":
            let operand = cursor.take { $0 != "," && $0 != ")" && $0 != " " }
            return FilterOperation.IsOperand(rawValue: operand.lowercased()).map { .isOperand($0) }
        case "isdistinct": return .isDistinct(value(&cursor, isInTree))
        case "cs": return .contains(value(&cursor, isInTree))
        case "cd": return .containedBy(value(&cursor, isInTree))
        case "ov": return .overlaps(value(&cursor, isInTree))
        case "sl", "sr", "nxl", "nxr", "adj":
            _ = value(&cursor, isInTree)
            return .opaque
        default: return nil
        }
    }

    /// Reads a value: outside a logic tree the rest of the text, inside it the text up to the next delimiter.
    private func value(_ cursor: inout WireCursor, _ isInTree: Bool) -> String {
        guard isInTree else { return cursor.rest() }
        if let quoted = delimitedQuoted(&cursor) { return quoted }
        let start = cursor.position
        if cursor.take("{") {
            let inner = cursor.take { $0 != "{" && $0 != "}" }
            if cursor.take("}") { return "{" + inner + "}" }
            cursor.position = start
        }
        return cursor.take { $0 != "," && $0 != ")" }
    }

    private func list(_ cursor: inout WireCursor) -> [String]? {
        cursor.skipBlanks()
        guard cursor.take("(") else { return nil }
        cursor.skipBlanks()
        var members: [String] = []
        repeat {
            members.append(delimitedQuoted(&cursor) ?? cursor.take { $0 != "," && $0 != ")" })
        } while cursor.take(",")
        guard cursor.take(")") else { return nil }
        cursor.skipBlanks()
        return members
    }

    /// Reads a quoted text that ends at a delimiter or at the end; the caller reads any other text literally.
    private func delimitedQuoted(_ cursor: inout WireCursor) -> String? {
        let start = cursor.position
        if let text = cursor.quoted(), cursor.isAtEnd || cursor.next == "," || cursor.next == ")" { return text }
        cursor.position = start
        return nil
    }
}
