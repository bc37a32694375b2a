/// The one error type of this package: what happened, to which table, and what the app can do.
///
/// `description` is safe to log and to show to a developer: it carries no row value, no filter value, no URL
/// and no token. What the server said in its own words (which may quote row values) is kept apart in `server`.
///
/// See docs/spec/reads.md, Errors.
public struct SyncError: Error, Sendable {
    /// What kind of fault this is. Open: later versions may add codes, so keep a default case.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The stable text of the code, as it appears in logs.
        public let rawValue: String

        /// Makes a code from its stable text.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// What kind of fault this is.
    public let code: Code
    /// One sentence for a developer: what happened and what the app can do. Never holds values or tokens.
    public let message: String
    /// The table concerned, where there is one.
    public let table: String?
    /// The server's own error answer, where there was one. Its texts may quote row values: do not log them.
    public let server: ServerFailure?
    /// The lower-level error, for a debugger. Its texts may hold URLs or values: do not log them.
    public let underlying: (any Error)?
    /// How long the server asked to be left alone, where it did.
    public let retryAfter: Duration?

    /// Makes an error.
    public init(
        _ code: Code, _ message: String, table: String? = nil, server: ServerFailure? = nil,
        underlying: (any Error)? = nil, retryAfter: Duration? = nil
    ) {
        self.code = code
        self.message = message
        self.table = table
        self.server = server
        self.underlying = underlying
        self.retryAfter = retryAfter
    }

    /// Whether the same call can succeed later without the app changing anything.
    public var isRetryable: Bool {
        switch code {
        case .connectivity, .networkDisabled, .storeBusy, .diskFull, .sessionNotSettled: true
        case .server: server?.isTransient ?? false
        default: false
        }
    }
}

extension SyncError.Code {
    /// The server could not be reached, or the connection ended before its answer was whole.
    public static let connectivity = Self(rawValue: "connectivity")
    /// `disableNetwork()` is in force, so nothing was sent.
    public static let networkDisabled = Self(rawValue: "network_disabled")
    /// The server answered with an error of its own.
    public static let server = Self(rawValue: "server")
    /// The server's answer is not what the protocol promises: not JSON, truncated, an HTML page of a proxy.
    public static let malformedResponse = Self(rawValue: "malformed_answer")
    /// Nothing is stored for this read and the strategy does not allow asking the server.
    public static let cacheMiss = Self(rawValue: "cache_miss")
    /// A row came back that does not decode as the type the app asked for. The stored bytes are kept.
    public static let decoding = Self(rawValue: "decoding")
    /// This write cannot be kept in the queue; the message says why.
    public static let notQueueable = Self(rawValue: "not_queueable")
    /// An update or delete without any filter would touch every row of the table.
    public static let unfilteredWrite = Self(rawValue: "unfiltered_write")
    /// The queue holds as many writes as its limit allows.
    public static let queueFull = Self(rawValue: "queue_full")
    /// The server refused the write for good.
    public static let rejected = Self(rawValue: "refused")
    /// No write of this id is known here: never queued, cleared, or accepted too long ago.
    public static let unknownMutation = Self(rawValue: "unknown_mutation")
    /// The write left the queue by the app's own hand before the server gave a verdict.
    public static let discarded = Self(rawValue: "discarded")
    /// The client is closed, or was closed meanwhile.
    public static let closed = Self(rawValue: "closed")
    /// `create(_:)` has not been called, or has not succeeded.
    public static let engineUnavailable = Self(rawValue: "ENGINE_UNAVAILABLE")
    /// The configuration cannot work: for example a URL that is no http(s) URL.
    public static let invalidConfiguration = Self(rawValue: "invalid_configuration")
    /// The session did not settle within the time a read waits for it.
    public static let sessionNotSettled = Self(rawValue: "session_not_settled")
    /// The store could not be read or written.
    public static let storage = Self(rawValue: "storage")
    /// Another process holds the store longer than the time to wait.
    public static let storeBusy = Self(rawValue: "store_busy")
    /// The disk is full; nothing was written.
    public static let diskFull = Self(rawValue: "disk_full")
    /// The store was written by a newer version of this package; it was left untouched.
    public static let storeTooNew = Self(rawValue: "store_too_new")
    /// The store file is damaged. It has been moved aside and kept.
    public static let storeCorrupt = Self(rawValue: "store_corrupt")
    /// The folder for the store cannot be made or written.
    public static let unwritableDirectory = Self(rawValue: "unwritable_directory")
}

extension SyncError: CustomStringConvertible, CustomDebugStringConvertible {
    /// Code, table, status and sentence; safe for logs.
    public var description: String {
        var text = "\(code.rawValue): \(message)"
        if let table { text += " [table \(table)]" }
        if let server { text += " [HTTP \(server.status)\(server.code.map { ", code \($0)" } ?? "")]" }
        return text
    }

    /// As `description`, with the server's own words and the underlying error. May quote row values.
    public var debugDescription: String {
        var text = description
        if let server { text += " server: \(server.message ?? "-") | \(server.details ?? "-") | \(server.hint ?? "-")" }
        if let underlying { text += " underlying: \(String(reflecting: underlying))" }
        return text
    }
}

extension SyncError: Equatable {
    /// Two errors are equal when they say the same; the underlying error is not compared.
    public static func == (lhs: SyncError, rhs: SyncError) -> Bool {
        lhs.code == rhs.code && lhs.message == rhs.message && lhs.table == rhs.table && lhs.server == rhs.server
    }
}
