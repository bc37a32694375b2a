/// Checks of a request that do not depend on its path.
enum RequestCheck {
    /// The longest request target in bytes; hosted gateways have limits of this size.
    static let targetLimit = 16 << 10

    /// Returns the response to a request that is not served at all; nil for any other request.
    static func rejection(of request: HTTPRequest) -> HTTPAnswer? {
        guard request.target.utf8.count <= targetLimit else { return .message(414, "URI Too Long") }
        let hosts = request.headers.all(named: "Host")
        guard hosts.count <= 1 else { return .message(400, "more than one Host header") }
        // A web page can point a host name of its own at 127.0.0.1; its requests carry that name.
        guard hosts.allSatisfy(isLoopback) else { return .message(403, "the Host header must name this machine") }
        let takesForms = request.path.hasPrefix("/rest/v1/") || ["GET", "HEAD"].contains(request.method)
        guard takesForms || !isForm(request) else {
            return .message(415, "the Content-Type must be application/json")
        }
        return nil
    }

    private static func isLoopback(_ host: String) -> Bool {
        let name: Substring
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
            name = host[...end]
        } else {
            name = host.prefix { $0 != ":" }
        }
        return ["127.0.0.1", "localhost", "[::1]"].contains(name.lowercased())
    }

    /// The content types that a web page can send to another site without asking it first.
    private static func isForm(_ request: HTTPRequest) -> Bool {
        let type = request.header("Content-Type")?.prefix { $0 != ";" } ?? ""
        return ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]
            .contains(String(type).trimmingBlanks.lowercased())
    }
}
