internal import Foundation

/// Only redirects of a read to the same scheme, host and port are followed. The caller receives any other redirect, so
/// that no key reaches another host and no write becomes a read.
enum Redirect {
    /// The largest number of redirects of one request.
    static let limit = 5

    static func isFollowed(method: String, from: URL, to target: URL) -> Bool {
        (method == "GET" || method == "HEAD") && from.scheme?.lowercased() == target.scheme?.lowercased()
            && from.host()?.lowercased() == target.host()?.lowercased() && from.port == target.port
    }

    /// Returns the target of a redirect to follow; nil if there is none.
    static func target(status: Int, location: String?, method: String, from: URL) -> URL? {
        guard [301, 302, 303, 307, 308].contains(status), let location,
            let target = URL(string: location, relativeTo: from)?.absoluteURL,
            isFollowed(method: method, from: from, to: target)
        else { return nil }
        return target
    }
}
