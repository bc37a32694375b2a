package import KizunaCore

/// What one HTTP answer, or the lack of one, means for the writes it was asked about (spec reads §8.5).
package enum AnswerVerdict: Sendable, Equatable {
    /// The server did it.
    case delivered
    /// No verdict yet, and the next request would fare the same: the whole queue waits.
    case unavailable(retryAfter: Duration?)
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
    case refused(ServerFailure)

    /// Judges an answer by its status and the server's error code.
    package static func judge(status: Int, failure: ServerFailure, retryAfter: Duration? = nil) -> AnswerVerdict {
        switch status {
        case 200..<300: .delivered
        case 401: .needsSession
        case 408, 425, 429, 502, 503, 504, 520...524: .unavailable(retryAfter: retryAfter)
        case 413: .tooLarge(failure)
        case 409 where failure.code == "23505": .duplicate(failure)
        case 409 where failure.code == "23503": .missingReference(failure)
        case 500..<600: judgeServerFault(failure, retryAfter: retryAfter)
        default: .refused(failure)
        }
    }

    private static func judgeServerFault(_ failure: ServerFailure, retryAfter: Duration?) -> AnswerVerdict {
        // A key twice in one upsert is the request's own fault, though PostgREST answers 500.
        if failure.code == "21000" { return .refused(failure) }
        return failure.isTransient ? .unavailable(retryAfter: retryAfter) : .unsettled(failure)
    }
}
