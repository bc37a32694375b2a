package import KizunaCore

/// What one HTTP answer, or the lack of one, means for the writes it was asked about (docs/spec/writes.md, Responses
/// and outcomes).
package enum WriteOutcome: Sendable, Equatable {
    /// The server did it.
    case delivered
    /// The server did some of a request's writes, those of these ids; the others touched no row.
    case partly(Set<String>)
    /// Nothing was sent: what the server says of these writes together would not tell them apart.
    case oneByOne
    /// No verdict yet, and the next request would fare the same: the whole queue waits. A gateway that gave up on the
    /// server does not know whether it did the work.
    case unavailable(retryAfter: Duration?, mayHaveBeenHandled: Bool)
    /// No verdict yet for these writes; others may go on. Five such answers in a row are a refusal.
    case unsettled(ServerFailure)
    /// The token is missing, expired or not accepted; nothing is said about the write.
    case needsSession
    /// The request as a whole is too large.
    case tooLarge(ServerFailure)
    /// A row of this key exists already: after an unknown outcome it may be our own.
    case duplicate(ServerFailure)
    /// A row refers to one that is not there: it may be one that still waits in the queue.
    case missingReference(ServerFailure)
    /// An update by key was accepted and touched no row: a refusal, unless an earlier send of it may have been handled.
    case matchedNothing(ServerFailure)
    case rejected(ServerFailure)

    /// Judges an answer by its status and the server's error code.
    package static func judge(status: Int, failure: ServerFailure, retryAfter: Duration? = nil) -> WriteOutcome {
        func unavailable(mayHaveBeenHandled: Bool) -> WriteOutcome {
            .unavailable(retryAfter: retryAfter, mayHaveBeenHandled: mayHaveBeenHandled)
        }
        switch status {
        case 200..<300: return .delivered
        case 401: return .needsSession
        // A login page of the network, a proxy that wants a name: the server has not seen the request.
        case 300..<400, 407, 511, 425, 429: return unavailable(mayHaveBeenHandled: false)
        case 408, 502, 504, 520...524: return unavailable(mayHaveBeenHandled: true)
        case 503: return unavailable(mayHaveBeenHandled: failure.code == nil)
        case 413: return .tooLarge(failure)
        case 409 where failure.code == "23505": return .duplicate(failure)
        case 409 where failure.code == "23503": return .missingReference(failure)
        // A key twice in one upsert is the request's own fault, though PostgREST answers 500.
        case 500..<600 where failure.code == "21000": return .rejected(failure)
        case 500..<600 where failure.isTransient:
            return unavailable(mayHaveBeenHandled: failure.code?.hasPrefix("08") ?? true)
        case 500..<600: return .unsettled(failure)
        // PostgREST's own refusals carry a code. Without one, something in between spoke, and may be gone the next time.
        default: return failure.code == nil ? .unsettled(failure) : .rejected(failure)
        }
    }
}
