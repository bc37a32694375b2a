import KizunaCore
import KizunaPostgREST
import Testing

/// SQL's logic with a fourth value for "unknown".
@Suite struct TruthTests {
    private static let pairs = Truth.allCases.flatMap { left in Truth.allCases.map { (left, $0) } }
    private static let certain: [Truth] = [.yes, .no, .null]

    /// The possible SQL results for a truth value.
    private static func meanings(_ truth: Truth) -> [Truth] { truth == .unknown ? certain : [truth] }

    /// The truth table of SQL's AND.
    private static func sqlAnd(_ lhs: Truth, _ rhs: Truth) -> Truth {
        if lhs == .no || rhs == .no { return .no }
        return lhs == .null || rhs == .null ? .null : .yes
    }

    private static func sqlNot(_ truth: Truth) -> Truth { truth == .yes ? .no : truth == .no ? .yes : .null }

    /// Whether a truth value covers an SQL result; `null` also means "not true".
    private static func covers(_ response: Truth, _ sql: Truth) -> Bool {
        response == .unknown || response == sql || (response == .null && sql == .no)
    }

    @Test func andOrAndNotFollowSQLForKnownOperands() {
        for left in Self.certain {
            #expect(left.negated == Self.sqlNot(left))
            for right in Self.certain {
                #expect(left.and(right) == Self.sqlAnd(left, right))
                #expect(left.or(right) == Self.sqlNot(Self.sqlAnd(Self.sqlNot(left), Self.sqlNot(right))))
            }
        }
    }

    @Test func aResultCoversAllPossibleResultsOfItsOperands() {
        for (left, right) in Self.pairs {
            for leftMeaning in Self.meanings(left) {
                for rightMeaning in Self.meanings(right) {
                    let and = Self.sqlAnd(leftMeaning, rightMeaning)
                    #expect(Self.covers(left.and(right), and), "\(left) and \(right)")
                    let or = Self.sqlNot(Self.sqlAnd(Self.sqlNot(leftMeaning), Self.sqlNot(rightMeaning)))
                    #expect(Self.covers(left.or(right), or), "\(left) or \(right)")
                }
            }
        }
    }

    @Test func falseDecidesAndAndTrueDecidesOrDespiteAnUnknown() {
        #expect(Truth.no.and(.unknown) == .no)
        #expect(Truth.unknown.and(.no) == .no)
        #expect(Truth.yes.or(.unknown) == .yes)
        #expect(Truth.unknown.or(.yes) == .yes)
        #expect(Truth.yes.and(.unknown) == .unknown)
        #expect(Truth.no.or(.unknown) == .unknown)
        #expect(Truth.null.or(.unknown) == .unknown)
        #expect(Truth.null.and(.unknown) == .null)
        #expect(Truth.unknown.negated == .unknown)
    }

    @Test func onlyTrueMatchesARow() {
        #expect(Truth.allCases.map(\.isMatched) == [true, false, false, nil])
    }

    @Test func negationOfNullAndUnknownIsUnknown() {
        let row = RowView(.init(unchecked: Array(#"{"a":null}"#.utf8)))
        let plain = FilterExpression(filters: [QueryItem("and", "(a.eq.1,b.eq.2)")])
        let negated = FilterExpression(filters: [QueryItem("not.and", "(a.eq.1,b.eq.2)")])
        #expect(plain.evaluate(row, in: TableTypes()).isMatched == false)
        #expect(negated.evaluate(row, in: TableTypes()) == .unknown)
    }
}
