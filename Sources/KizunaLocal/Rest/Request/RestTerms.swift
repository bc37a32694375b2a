/// A column, and the way into its JSON.
package struct Field: Sendable, Equatable {
    package let name: String
    package var path: [JSONStep]

    package init(name: String, path: [JSONStep] = []) {
        self.name = name
        self.path = path
    }

    /// The name its value gets in an answer: the column's, or the last key of the path.
    package var answerName: String {
        for step in path.reversed() {
            if case .key(let key) = step.operand { return key }
        }
        return name
    }
}

/// One step into JSON: `->key`, `->>key`, `->0`.
package struct JSONStep: Sendable, Equatable {
    package enum Operand: Sendable, Equatable {
        case key(String)
        case index(String)
    }

    package let isText: Bool
    package let operand: Operand

    package init(isText: Bool, operand: Operand) {
        self.isText = isText
        self.operand = operand
    }
}

/// What a condition asks of a field.
package enum Operation: Sendable, Equatable {
    package enum Quantifier: String, Sendable {
        case any = "ANY"
        case all = "ALL"
    }

    /// `eq`, `like`, `cs`, …; `sql` is PostgreSQL's operator.
    case compare(sql: String, Quantifier?, String)
    case oneOf([String])
    /// `NULL`, `TRUE`, …: one of a few words, safe to be part of a statement.
    case isWord(String)
    case isDistinct(String)
    /// `fts` and its kin; `function` makes the query.
    case search(function: String, language: String?, String)
}

/// A condition on a field.
package struct Condition: Sendable, Equatable {
    package let field: Field
    package let isNegated: Bool
    package let operation: Operation

    package init(field: Field, isNegated: Bool, operation: Operation) {
        self.field = field
        self.isNegated = isNegated
        self.operation = operation
    }
}

/// Conditions joined by `and` and `or`.
package indirect enum LogicTree: Sendable, Equatable {
    case condition(Condition)
    case group(isNegated: Bool, isAnd: Bool, [LogicTree])
}

/// One part of `order`.
package struct OrderTerm: Sendable, Equatable {
    package enum Nulls: String, Sendable {
        case first = "NULLS FIRST"
        case last = "NULLS LAST"
    }

    /// The embedded resource whose field it is; nil for the table itself.
    package let relation: String?
    package let field: Field
    package let isDescending: Bool?
    package let nulls: Nulls?
}

/// One part of `select`.
package indirect enum SelectItem: Sendable, Equatable {
    case all
    case field(Field, cast: String?, alias: String?)
    case aggregate(function: String, Field?, cast: String?, resultCast: String?, alias: String?)
    case embed(name: String, alias: String?, isSpread: Bool, [SelectItem])
}
