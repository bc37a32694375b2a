internal import KizunaCore

/// The rows a write carries, as one JSON array of objects.
package struct RowPayload: Sendable, Equatable {
    /// Always an array.
    package let json: String
    /// The columns to write, in a fixed order.
    package let columns: [String]

    package init(json: String, columns: [String]) {
        self.json = json
        self.columns = columns
    }

    /// Reads a body; `columns` is the query parameter, which frees the objects from having equal keys.
    package static func parse(_ body: [UInt8], contentType: String?, columns: [String]?) throws(RestFailure)
        -> RowPayload
    {
        let type = (contentType ?? "application/json").split(separator: ";").first.map(String.init) ?? ""
        switch type.trimmingBlanks.lowercased() {
        case "application/json": return try rows(json(body), columns)
        case "text/csv": return try rows(CSVText.rows(QueryText.checked(body)), columns)
        case "application/x-www-form-urlencoded":
            let pairs = try QueryText.pairs(QueryText.checked(body))
            return try rows([RawJSON(members: pairs.map { .init(name: $0.name, value: .string($0.value)) })], columns)
        case let other: throw .badBody("Content-Type not acceptable: \(other)")
        }
    }

    private static func json(_ body: [UInt8]) throws(RestFailure) -> [RawJSON] {
        guard String(validating: body, as: UTF8.self) != nil, let value = try? RawJSON(validating: body) else {
            throw .badBody("Empty or invalid json")
        }
        switch value.kind {
        case .object: return [value]
        case .array: return (try? value.arrayElements()) ?? []
        // The server takes any other value for no rows at all.
        default: return []
        }
    }

    private static func rows(_ rows: [RawJSON], _ columns: [String]?) throws(RestFailure) -> RowPayload {
        let json = RawJSON(elements: rows).text
        if let columns { return RowPayload(json: json, columns: unique(columns)) }
        var keys: [String] = []
        for (index, row) in rows.enumerated() {
            guard let members = try? row.objectMembers() else { throw .badBody("All object keys must match") }
            if index == 0 {
                keys = unique(members.map(\.name))
            } else if Set(members.map(\.name)) != Set(keys) {
                throw .badBody("All object keys must match")
            }
        }
        return RowPayload(json: json, columns: keys)
    }

    private static func unique(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }
}
