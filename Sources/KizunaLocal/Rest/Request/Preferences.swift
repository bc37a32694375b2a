/// The header `Prefer`, read. Of each kind the first one counts.
package struct Preferences: Sendable, Equatable {
    package enum Return: String, Sendable, CaseIterable {
        case representation, minimal
        case headersOnly = "headers-only"
    }

    package enum Count: String, Sendable, CaseIterable {
        case exact, planned, estimated
    }

    package enum Resolution: String, Sendable, CaseIterable {
        case merge = "merge-duplicates"
        case ignore = "ignore-duplicates"
    }

    package enum Missing: String, Sendable, CaseIterable {
        case `default`, null
    }

    package enum Handling: String, Sendable, CaseIterable {
        case strict, lenient
    }

    package enum Transaction: String, Sendable, CaseIterable {
        case commit, rollback
    }

    package var returning: Return?
    package var count: Count?
    package var resolution: Resolution?
    package var missing: Missing?
    package var handling: Handling?
    package var transaction: Transaction?
    package var timezone: String?
    package var maxAffected: Int?
    /// Preferences that are unknown, as they were written.
    package var unknown: [String] = []

    package init(headers: [String] = [], allowsTransactionOverride: Bool = false) {
        for text in headers.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            let preference = String(text).trimmingBlanks
            if !take(preference) { unknown.append(preference) }
        }
        if !allowsTransactionOverride { transaction = nil }
    }

    private mutating func take(_ preference: String) -> Bool {
        let halves = preference.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard halves.count == 2 else { return false }
        switch halves[0] {
        case "return": return Self.set(&returning, halves[1])
        case "count": return Self.set(&count, halves[1])
        case "resolution": return Self.set(&resolution, halves[1])
        case "missing": return Self.set(&missing, halves[1])
        case "handling": return Self.set(&handling, halves[1])
        case "tx": return Self.set(&transaction, halves[1])
        case "timezone": timezone = timezone ?? halves[1]
        case "max-affected": maxAffected = maxAffected ?? Int(halves[1])
        default: return false
        }
        return true
    }

    private static func set<Value: RawRepresentable<String>>(_ slot: inout Value?, _ text: String) -> Bool {
        guard let value = Value(rawValue: text) else { return false }
        slot = slot ?? value
        return true
    }

    /// The header `Preference-Applied`; the caller has taken out what does not apply to its method.
    package var applied: HTTPHeader? {
        var parts: [String] = []
        if let resolution { parts.append("resolution=\(resolution.rawValue)") }
        if let missing { parts.append("missing=\(missing.rawValue)") }
        if let returning { parts.append("return=\(returning.rawValue)") }
        if let count { parts.append("count=\(count.rawValue)") }
        if let transaction { parts.append("tx=\(transaction.rawValue)") }
        if let handling { parts.append("handling=\(handling.rawValue)") }
        if let timezone { parts.append("timezone=\(timezone)") }
        if let maxAffected, handling == .strict { parts.append("max-affected=\(maxAffected)") }
        return parts.isEmpty ? nil : HTTPHeader("Preference-Applied", parts.joined(separator: ", "))
    }
}
