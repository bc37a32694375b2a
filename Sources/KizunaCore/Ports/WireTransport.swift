/// One HTTP request as it goes out.
public struct WireRequest: Sendable, Equatable {
    /// The HTTP method, upper case.
    public var method: String
    /// The absolute URL, already percent-encoded.
    public var url: String
    /// Header fields in order; a name may repeat.
    public var headers: [WireHeader]
    /// The body's bytes, or nil for none.
    public var body: [UInt8]?
    /// How long to wait for the whole answer.
    public var timeout: Duration
    /// When it must have left, by the machine's clock (`HostProcess.sinceBoot`); later it is not sent. For requests whose
    /// right to be sent runs out.
    package var leavesBefore: Duration?

    /// Makes a request.
    public init(
        method: String, url: String, headers: [WireHeader] = [], body: [UInt8]? = nil, timeout: Duration = .seconds(30)
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

/// One header field.
public struct WireHeader: Sendable, Hashable {
    /// The field's name.
    public var name: String
    /// The field's value.
    public var value: String

    /// Makes a header field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// One whole HTTP answer.
public struct WireResponse: Sendable, Equatable {
    /// The HTTP status.
    public var status: Int
    /// Header values by lower-case name; values of a repeated name are joined by a comma.
    public var headers: [String: String]
    /// The body's bytes, decompressed.
    public var body: [UInt8]

    /// Makes an answer.
    public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// The network: sends one request and returns one whole answer.
///
/// A conformance throws `WireFailure` when no whole answer came, and `CancellationError` when the calling task was
/// cancelled. It follows no redirect to another host, stores no cookies and keeps no cache.
public protocol WireTransport: Sendable {
    /// Sends a request and waits for its whole answer.
    func send(_ request: WireRequest) async throws -> WireResponse
}

/// Why no whole answer came.
public struct WireFailure: Error, Sendable, Equatable {
    /// What is known of the request's fate.
    public enum Kind: String, Sendable, CaseIterable {
        /// Proved not to have been handled: no route, name not found, connection refused, TLS not agreed.
        case notSent
        /// It may have been handled: a time-out, or the connection ended before the answer was whole.
        case outcomeUnknown
        /// It can never be sent as it is: a URL that cannot be used, a certificate that is not trusted.
        case unusable
    }

    /// What is known of the request's fate.
    public let kind: Kind
    /// A short text without URL, header or value.
    public let reason: String

    /// Makes a failure.
    public init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }
}
