internal import Foundation

/// The figures as text.
enum Report {
    static let head = row("figure", "value", "goal", "ratio", "reached")

    static func line(_ figure: Figure) -> String {
        let goal =
            switch figure.goal {
            case .atMost(let value): "<= \(number(value)) \(figure.unit.rawValue)"
            case .atLeast(let value): ">= \(number(value)) \(figure.unit.rawValue)"
            case nil: ""
            }
        return row(
            figure.name, "\(number(figure.value)) \(figure.unit.rawValue)", goal,
            figure.ratio.map { String(format: "%.2f", $0) } ?? "", figure.isReached.map { $0 ? "yes" : "no" } ?? "")
    }

    static func json(_ figures: [Figure]) -> String {
        let lines = figures.map { figure in
            var members = [
                "\"name\": \"\(figure.name)\"", "\"value\": \(figure.value)", "\"unit\": \"\(figure.unit.rawValue)\"",
            ]
            if let goal = figure.goal, let ratio = figure.ratio, let isReached = figure.isReached {
                members += ["\"goal\": \(goal.value)", "\"ratio\": \(ratio)", "\"reached\": \(isReached)"]
            }
            return "  {" + members.joined(separator: ", ") + "}"
        }
        return "[\n" + lines.joined(separator: ",\n") + "\n]"
    }

    private static func row(_ name: String, _ value: String, _ goal: String, _ ratio: String, _ reached: String)
        -> String
    {
        func left(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(0, width - text.count))
        }
        func right(_ text: String, _ width: Int) -> String {
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        return left(name, 58) + right(value, 14) + "  " + right(goal, 16) + right(ratio, 8) + right(reached, 9)
    }

    private static func number(_ value: Double) -> String {
        switch abs(value) {
        case 100...: String(format: "%.0f", value)
        case 10..<100: String(format: "%.1f", value)
        default: String(format: "%.3f", value)
        }
    }
}
