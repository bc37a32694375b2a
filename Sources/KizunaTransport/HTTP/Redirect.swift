internal import Foundation

/// Which redirects are followed: a read, to the same scheme, host and port. Everything else is the caller's to see,
/// so that no key reaches another host and no write turns into a read.
enum Redirect {
    /// How many redirects one request may follow.
    static let limit = 5

    static func isFollowed(method: String, from: URL, to target: URL) -> Bool {
        (method == "GET" || method == "HEAD") && from.scheme?.lowercased() == target.scheme?.lowercased()
            && from.host()?.lowercased() == target.host()?.lowercased() && from.port == target.port
    }

    /// Where an answer sends the reader on, or nil where it is no redirect to follow.
    static func target(status: Int, location: String?, method: String, from: URL) -> URL? {
        guard [301, 302, 303, 307, 308].contains(status), let location,
            let target = URL(string: location, relativeTo: from)?.absoluteURL,
            isFollowed(method: method, from: from, to: target)
        else { return nil }
        return target
    }
}
