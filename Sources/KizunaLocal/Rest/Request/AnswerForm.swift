/// The form of an answer's body, chosen by the header `Accept`.
package enum AnswerForm: Sendable, Equatable {
    case array
    case arrayWithoutNulls
    case object
    case objectWithoutNulls
    case csv

    var contentType: String {
        switch self {
        case .array: "application/json; charset=utf-8"
        case .arrayWithoutNulls: "application/vnd.pgrst.array+json;nulls=stripped; charset=utf-8"
        case .object: "application/vnd.pgrst.object+json; charset=utf-8"
        case .objectWithoutNulls: "application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8"
        case .csv: "text/csv; charset=utf-8"
        }
    }

    var isObject: Bool { self == .object || self == .objectWithoutNulls }
    var leavesOutNulls: Bool { self == .arrayWithoutNulls || self == .objectWithoutNulls }

    /// The first acceptable form, the most wanted first.
    package static func choose(_ accept: String?) throws(RestFailure) -> AnswerForm {
        guard let accept else { return .array }
        let wanted = accept.split(separator: ",").enumerated().map { position, text in
            let parts = text.split(separator: ";").map { String($0).trimmingBlanks }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return (position: position, weight: weight, parts: parts.filter { !$0.hasPrefix("q=") })
        }
        let sorted = wanted.sorted { $0.weight == $1.weight ? $0.position < $1.position : $0.weight > $1.weight }
        for range in sorted {
            if let form = form(range.parts) { return form }
        }
        let names = sorted.map { $0.parts.joined(separator: ";") }.joined(separator: ", ")
        throw RestFailure(406, "PGRST107", "None of these media types are available: \(names)")
    }

    private static func form(_ parts: [String]) -> AnswerForm? {
        let leavesOutNulls = parts.dropFirst().contains("nulls=stripped")
        switch parts.first {
        case "*/*", "application/json": return .array
        case "application/vnd.pgrst.array+json", "application/vnd.pgrst.array":
            return leavesOutNulls ? .arrayWithoutNulls : .array
        case "application/vnd.pgrst.object+json", "application/vnd.pgrst.object":
            return leavesOutNulls ? .objectWithoutNulls : .object
        case "text/csv": return .csv
        default: return nil
        }
    }
}
