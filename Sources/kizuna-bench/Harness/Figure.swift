/// One measured number, with a goal if there is one.
struct Figure {
    enum Unit: String {
        case milliseconds = "ms"
        case perSecond = "/s"
        case percent = "%"
        case megabytes = "MB"
        case times = "x"
        case count = ""
    }

    enum Goal {
        case atMost(Double)
        case atLeast(Double)

        var value: Double {
            switch self {
            case .atMost(let value), .atLeast(let value): value
            }
        }
    }

    let name: String
    let value: Double
    let unit: Unit
    let goal: Goal?

    init(_ name: String, _ value: Double, _ unit: Unit, goal: Goal? = nil) {
        self.name = name
        self.value = value
        self.unit = unit
        self.goal = goal
    }

    /// The ratio to the goal: 2 is twice as good, 0.5 half as good.
    var ratio: Double? {
        switch goal {
        case .atMost(let most): most / max(value, .leastNonzeroMagnitude)
        case .atLeast(let least): value / least
        case nil: nil
        }
    }

    var isReached: Bool? { ratio.map { $0 >= 1 } }
}
