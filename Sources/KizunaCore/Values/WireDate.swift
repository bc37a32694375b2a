package import Foundation

/// Dates as they cross the wire.
package enum WireDate {
    /// ISO 8601 in UTC with milliseconds, as supabase-swift writes it.
    package static func text(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// Reads what PostgREST writes for `timestamptz`, `timestamp` (taken as UTC) and `date`; nil for anything else.
    package static func date(_ text: String) -> Date? {
        let normal = normalized(text)
        return (try? Date(normal, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            ?? (try? Date(normal, strategy: .iso8601))
    }

    /// PostgreSQL writes up to six digits of a second and may leave the offset out.
    private static func normalized(_ text: String) -> String {
        var rest = text.replacing(" ", with: "T")
        if !rest.contains("T") { rest += "T00:00:00" }
        guard let time = rest.firstIndex(of: "T") else { return text }
        var offset = "Z"
        if let at = rest[time...].lastIndex(where: { $0 == "+" || $0 == "-" || $0 == "Z" }) {
            offset = String(rest[at...])
            rest = String(rest[..<at])
        }
        if offset.count == 3 { offset += ":00" }
        guard let point = rest.firstIndex(of: ".") else { return rest + offset }
        let digits = rest[rest.index(after: point)...]
        return rest[..<point] + "." + (digits.prefix(3) + "000").prefix(3) + offset
    }
}
