/// A request as it came over the wire; path and query are still percent-encoded.
package struct HTTPRequest: Sendable {
    package let method: String
    /// The path, beginning with `/`.
    package let path: String
    /// The text after `?`, nil where there is none.
    package let query: String?
    package let headers: [HTTPHeader]
    package let body: [UInt8]
    /// The body was larger than the server takes; `body` is incomplete.
    package let isBodyTooLarge: Bool

    /// The value of the first header of this name.
    package func header(_ name: String) -> String? { headers.first(named: name) }

    /// The path with its query, as a log shows it.
    package var target: String { query.map { path + "?" + $0 } ?? path }
}

/// One header line.
package struct HTTPHeader: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [HTTPHeader] {
    /// The value of the first header of this name, in any letter case.
    package func first(named name: String) -> String? {
        first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The values of all headers of this name.
    package func all(named name: String) -> [String] {
        filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

/// What the server sends back.
package struct HTTPAnswer: Sendable, Hashable {
    package var status: Int
    package var headers: [HTTPHeader]
    package var body: [UInt8]

    package init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
