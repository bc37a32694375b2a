internal import Foundation

/// The `Retry-After` header.
package enum RetryAfter {
    /// The longest wait that a header can cause.
    private static let longest = Duration.seconds(600)

    package static func bounded(_ wait: Duration) -> Duration { min(wait, longest) }

    /// Returns the wait of the header; nil if there is none. A date is relative to the `Date` of the same response, because
    /// the device's clock may be wrong.
    package static func duration(_ headers: [String: String]) -> Duration? {
        guard let value = headers["retry-after"] else { return nil }
        if let seconds = Int(value) { return seconds >= 0 ? .seconds(seconds) : nil }
        guard let until = date(value), let sent = headers["date"].flatMap(date) else { return nil }
        return .seconds(max(0, Int(until.timeIntervalSince(sent))))
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that servers send.
    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }
}
