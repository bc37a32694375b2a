package import KizunaCore
package import KizunaPostgREST
internal import KizunaSyncTesting

/// One generated question: a row, a filter as it is sent, and the same filter as PostgreSQL would be asked.
package struct FilterCase: Sendable {
    package struct Column: Sendable {
        package let name: String
        /// The type as PostgreSQL spells it; `mood` is the enum of `FilterCaseGenerator.labels`.
        package let sqlType: String
        /// The value as an SQL expression, `NULL` included.
        package let sqlValue: String
        /// The value as the server writes it in a row.
        package let json: String
    }

    package let columns: [Column]
    package let filters: [QueryItem]
    /// The filters' conjunction as SQL over the columns' names.
    package let sqlCondition: String

    package var row: RawJSON {
        RawJSON(members: columns.map { .init(name: $0.name, value: RawJSON(unchecked: Array($0.json.utf8))) })
    }

    /// The columns' declared types.
    package func types(patterns: KizunaPatternEvaluation = .ascii) -> TableTypes {
        var types = TableTypes(patternEvaluation: patterns)
        for column in columns {
            types.columns[column.name] =
                column.sqlType == "mood"
                ? .enumeration(FilterCaseGenerator.labels) : KizunaColumnType(rawValue: column.sqlType)
        }
        return types
    }
}

/// Emits random filters over typed rows, as filter text and as SQL, from a seed.
package struct FilterCaseGenerator {
    package static let labels = ["sad", "ok", "happy"]

    private var random: SeededRandom

    package init(seed: UInt64) { random = SeededRandom(seed: seed) }

    package mutating func next() -> FilterCase {
        var columns: [FilterCase.Column] = []
        var pools: [ValuePool] = []
        for index in 0..<(1 + Int(random.next() % 3)) {
            let pool = random.pick(ValuePool.all)
            let value = random.oneIn(6) ? ("NULL", "null") : random.pick(pool.values)
            columns.append(
                FilterCase.Column(name: "c\(index)", sqlType: pool.sqlType, sqlValue: value.0, json: value.1))
            pools.append(pool)
        }
        let rendered = (0..<(random.oneIn(3) ? 2 : 1)).map { _ in item(columns, pools) }
        return FilterCase(
            columns: columns, filters: rendered.map(\.0),
            sqlCondition: rendered.map { "(\($0.1))" }.joined(separator: " AND "))
    }

    private mutating func item(_ columns: [FilterCase.Column], _ pools: [ValuePool]) -> (QueryItem, String) {
        if random.oneIn(3) {
            let isOr = random.oneIn(2)
            let isNegated = random.oneIn(4)
            let (text, sql) = tree(isOr, columns, pools, depth: 0)
            let name = (isNegated ? "not." : "") + (isOr ? "or" : "and")
            return (QueryItem(name, text), isNegated ? "NOT (\(sql))" : sql)
        }
        let test = test(columns, pools)
        return (QueryItem(test.name, test.prefix + test.value), test.sql)
    }

    private mutating func tree(
        _ isOr: Bool, _ columns: [FilterCase.Column], _ pools: [ValuePool], depth: Int
    ) -> (String, String) {
        var texts: [String] = []
        var conditions: [String] = []
        for _ in 0..<(1 + Int(random.next() % 3)) {
            if depth < 2, random.oneIn(4) {
                let isInnerOr = random.oneIn(2)
                let isNegated = random.oneIn(3)
                let (text, sql) = tree(isInnerOr, columns, pools, depth: depth + 1)
                texts.append((isNegated ? "not." : "") + (isInnerOr ? "or" : "and") + text)
                conditions.append(isNegated ? "(NOT (\(sql)))" : "(\(sql))")
            } else {
                let test = test(columns, pools)
                let value = test.isList ? test.value : Self.quotedInTree(test.value)
                texts.append(test.name + "." + test.prefix + value)
                conditions.append("(\(test.sql))")
            }
        }
        let blank = random.oneIn(3) ? " " : ""
        return (
            "(" + blank + texts.joined(separator: "," + blank) + ")",
            conditions.joined(separator: isOr ? " OR " : " AND ")
        )
    }

    private struct Test {
        let name: String
        let prefix: String
        let value: String
        let isList: Bool
        let sql: String
    }

    private mutating func test(_ columns: [FilterCase.Column], _ pools: [ValuePool]) -> Test {
        let at = Int(random.next() % UInt64(columns.count))
        let pool = pools[at]
        var name = columns[at].name
        var expression = name
        var operands = pool.operands
        var operators = pool.operators
        if !pool.paths.isEmpty, random.oneIn(2) {
            let path = random.pick(pool.paths)
            name += path.wire
            expression = "(\(path.toJSON ? "to_jsonb(\(expression))" : expression)\(path.sql))"
            operands = path.isText ? ValuePool.texts : ValuePool.jsons
            operators = ValuePool.scalarOperators + (path.isText ? ["like", "ilike", "match"] : ["cs", "cd"])
        }
        let word = random.pick(operators)
        let isNegated = random.oneIn(4)
        let body = body(word, expression, operands)
        return Test(
            name: name, prefix: (isNegated ? "not." : "") + body.prefix, value: body.value, isList: body.isList,
            sql: isNegated ? "NOT (\(body.sql))" : body.sql)
    }

    private typealias Body = (prefix: String, value: String, isList: Bool, sql: String)

    private mutating func body(_ word: String, _ column: String, _ operands: [String]) -> Body {
        let operand = random.pick(operands)
        switch word {
        case "is":
            let word = random.pick(["null", "not_null", "true", "false", "unknown", "NULL"])
            let sql = word.lowercased() == "not_null" ? "NOT NULL" : word
            return ("is.", word, true, "\(column) IS \(sql)")
        case "in":
            let members = (0..<(1 + Int(random.next() % 3))).map { _ in random.pick(operands) }
            let text = members.map(WireFormat.listMember).joined(separator: ",")
            let isEmpty = members.count == 1 && members[0].isEmpty
            let literal = isEmpty ? "{}" : "{" + members.map(WireFormat.arrayElement).joined(separator: ",") + "}"
            return ("in.", "(\(text))", true, "\(column) = ANY (\(WireFormat.sqlLiteral(literal)))")
        case "isdistinct":
            return ("isdistinct.", operand, false, "\(column) IS DISTINCT FROM \(WireFormat.sqlLiteral(operand))")
        case "like", "ilike": return pattern(word, column)
        case "match", "imatch":
            let expression = random.pick(ValuePool.expressions)
            let symbol = word == "match" ? "~" : "~*"
            return (word + ".", expression, false, "\(column) \(symbol) \(WireFormat.sqlLiteral(expression))")
        default: break
        }
        let symbols = [
            "eq": "=", "neq": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "cs": "@>", "cd": "<@", "ov": "&&",
        ]
        let symbol = symbols[word] ?? "="
        if ["eq", "gt", "gte", "lt", "lte"].contains(word), random.oneIn(5) {
            let quantifier = random.oneIn(2) ? "any" : "all"
            let count = random.oneIn(5) ? 0 : 1 + Int(random.next() % 2)
            let elements = (0..<count).map { _ in
                random.oneIn(6) ? "NULL" : WireFormat.arrayElement(random.pick(operands))
            }
            let literal = "{" + elements.joined(separator: ",") + "}"
            return (
                "\(word)(\(quantifier)).", literal, false,
                "\(column) \(symbol) \(quantifier) (\(WireFormat.sqlLiteral(literal)))"
            )
        }
        return (word + ".", operand, false, "\(column) \(symbol) \(WireFormat.sqlLiteral(operand))")
    }

    private mutating func pattern(_ word: String, _ column: String) -> Body {
        let pattern = random.pick(ValuePool.patterns)
        let seen = String(pattern.map { $0 == "*" ? "%" : $0 })
        let symbol = word == "like" ? "LIKE" : "ILIKE"
        return (word + ".", pattern, false, "\(column) \(symbol) \(WireFormat.sqlLiteral(seen))")
    }

    /// A value inside a logic tree: quoted when it could end there, or now and then anyway.
    private static func quotedInTree(_ value: String) -> String {
        let isPlain = !value.contains { ",()\"\\{}".contains($0) } && !value.hasPrefix(" ") && !value.hasSuffix(" ")
        return isPlain ? value : WireFormat.quoted(value)
    }
}

/// Texts as the wire and SQL want them, written apart from the code under test.
package enum WireFormat {
    package static func quoted(_ text: String) -> String {
        "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
    }

    package static func listMember(_ text: String) -> String {
        let isPlain = !text.contains { ",()\"\\".contains($0) } && !text.hasPrefix(" ") && !text.hasSuffix(" ")
        return isPlain ? text : quoted(text)
    }

    package static func arrayElement(_ text: String) -> String { quoted(text) }

    package static func sqlLiteral(_ text: String) -> String {
        "'" + text.map { $0 == "'" ? "''" : String($0) }.joined() + "'"
    }
}
