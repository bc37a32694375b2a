internal import Foundation

/// The `Retry-After` header.
package enum RetryAfter {
    /// The longest time a server is left alone because it asks for it.
    private static let longest = Duration.seconds(600)

    package static func bounded(_ asked: Duration) -> Duration { min(asked, longest) }

    /// How long the server wants to be left alone. A date counts from the answer's own `Date`, since the device's clock may
    /// be wrong; nil where there is none.
    package static func duration(_ headers: [String: String]) -> Duration? {
        guard let value = headers["retry-after"] else { return nil }
        if let seconds = Int(value) { return seconds >= 0 ? .seconds(seconds) : nil }
        guard let until = date(value), let answered = headers["date"].flatMap(date) else { return nil }
        return .seconds(max(0, Int(until.timeIntervalSince(answered))))
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form servers write.
    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }
}
