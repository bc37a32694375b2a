public import Foundation

extension UUID: KizunaFilterValue {
    /// The upper-case text, as in supabase-swift.
    public var filterText: String { uuidString }
}

extension Decimal: KizunaFilterValue {
    /// The plain decimal text.
    public var filterText: String { description }
}

extension Date: KizunaFilterValue {
    /// The instant in UTC with milliseconds: `2024-01-16T08:00:00.000Z`.
    public var filterText: String {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        guard milliseconds.isFinite, abs(milliseconds) < 9e15 else {
            return milliseconds.isNaN ? "NaN" : milliseconds < 0 ? "-infinity" : "infinity"
        }
        let total = Int64(milliseconds)
        let day = Int64(86_400_000)
        let days = total >= 0 ? total / day : -((-total + day - 1) / day)
        let rest = Int(total - days * day)
        let date = CivilDay.civil(ofDay: days)
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = String(number.magnitude)
            return (number < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        func part(_ number: Int, _ width: Int = 2) -> String { padded(Int64(number), width) }
        return "\(padded(date.year, 4))-\(part(date.month))-\(part(date.day))T\(part(rest / 3_600_000)):"
            + "\(part(rest / 60_000 % 60)):\(part(rest / 1000 % 60)).\(part(rest % 1000, 3))Z"
    }
}

extension Dictionary: KizunaArrayElement where Key == String, Value: Encodable {}

extension Dictionary: KizunaFilterValue where Key == String, Value: Encodable {
    /// The JSON object with sorted keys and plain slashes, for `json` and `jsonb` columns.
    ///
    /// Empty for a value that JSON cannot represent (`NaN`). The server rejects the empty text, so the filter matches
    /// no wrong rows.
    public var filterText: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        guard let data = try? encoder.encode(self) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }
}
