/// A column, and the way into its JSON.
struct Field: Sendable, Equatable {
    let name: String
    var path: [JSONStep] = []

    /// The name its value gets in an answer: the column's, or the last key of the path.
    var answerName: String {
        for step in path.reversed() {
            if case .key(let key) = step.operand { return key }
        }
        return name
    }
}

/// One step into JSON: `->key`, `->>key`, `->0`.
struct JSONStep: Sendable, Equatable {
    enum Operand: Sendable, Equatable {
        case key(String)
        case index(String)
    }

    let isText: Bool
    let operand: Operand
}

/// What a condition asks of a field.
enum Operation: Sendable, Equatable {
    enum Quantifier: String, Sendable {
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
struct Condition: Sendable, Equatable {
    let field: Field
    let isNegated: Bool
    let operation: Operation
}

/// Conditions joined by `and` and `or`.
indirect enum LogicTree: Sendable, Equatable {
    case condition(Condition)
    case group(isNegated: Bool, isAnd: Bool, [LogicTree])
}

/// One part of `order`.
struct OrderTerm: Sendable, Equatable {
    enum Nulls: String, Sendable {
        case first = "NULLS FIRST"
        case last = "NULLS LAST"
    }

    /// The embedded resource whose field it is; nil for the table itself.
    let relation: String?
    let field: Field
    let isDescending: Bool?
    let nulls: Nulls?
}

/// One part of `select`.
indirect enum SelectItem: Sendable, Equatable {
    case all
    case field(Field, cast: String?, alias: String?)
    case aggregate(function: String, Field?, cast: String?, resultCast: String?, alias: String?)
    case embed(name: String, alias: String?, isSpread: Bool, [SelectItem])
}
