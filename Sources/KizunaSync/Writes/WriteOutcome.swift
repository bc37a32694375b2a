package import KizunaCore
internal import KizunaPostgREST
internal import KizunaStore

/// What a response means for the mutations of its request. Pure. See docs/spec/writes.md, Responses and outcomes.
package enum WriteOutcome: Sendable, Equatable {
    /// The server did it.
    case delivered
    /// The server did some of a request's writes, those of these ids; the others touched no row.
    case partly(Set<String>)
    /// The role may not do this, or may not read the rows it asked to be returned: the same request is sent once more
    /// without asking for them.
    case forbidden(ServerFailure)
    /// The server accepted the request, and its response does not tell what became of the rows.
    case lookUp(QueueMachine.LookUp)
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

extension WriteOutcome {
    /// Judges a response to a request. `parsed` is the response of a success, nil for any other.
    static func judge(
        status: Int, failure: ServerFailure, retryAfter: Duration?, parsed: FlightResponse?,
        mutations: [QueuedMutation], returnsRows: Bool, keyColumns: [String]
    ) -> WriteOutcome {
        let isShared = mutations.count > 1 && mutations.first.map(\.isKeyed) == true
        if returnsRows, !isShared, failure.code == "42501" { return .forbidden(failure) }
        let outcome = judge(status: status, failure: failure, retryAfter: retryAfter)
        guard outcome == .delivered, let parsed, let first = mutations.first else { return outcome }
        if isShared { return judge(shared: mutations, parsed, status) }
        let isMissingRows = parsed.touched == 0 || !parsed.notFound.isEmpty
        return isMissingRows ? judge(first, parsed, status, keyColumns) : .delivered
    }

    /// Of several updates or deletes, those did their work whose rows came back, and deletes of rows that are gone.
    private static func judge(
        shared mutations: [QueuedMutation], _ response: FlightResponse, _ status: Int
    ) -> WriteOutcome {
        let done = Set(mutations.filter { response.byID[$0.id]?.isEmpty == false }.map(\.id))
        guard done.count < mutations.count else { return .delivered }
        guard case .delete = mutations[0].operation else { return .partly(done) }
        return .lookUp(.deletedRows(done: done, .noRowMatched(status: status)))
    }

    /// What it means that a mutation did not touch the rows it names.
    private static func judge(
        _ mutation: QueuedMutation, _ response: FlightResponse, _ status: Int, _ keyColumns: [String]
    ) -> WriteOutcome {
        guard !mutation.rowKeys.isEmpty else { return .delivered }
        let failure = ServerFailure.noRowMatched(status: status)
        switch mutation.operation {
        case .insert, .upsert: return .delivered
        case .delete: return .lookUp(.deletedRows(done: response.touched == 0 ? [] : [mutation.id], failure))
        // Without a column to change the server reports no row. An app's optional values may all be nil.
        case .update(let patch, _) where (try? patch.objectMembers().isEmpty) ?? false: return .delivered
        case .update:
            guard case .moves(let moves) = mutation.keyChange(keyColumns: keyColumns), moves.count == 1,
                TableRequest.movedRow(of: mutation, keyColumns: keyColumns) != nil
            else { return .matchedNothing(failure) }
            return .lookUp(.movedRow(failure))
        }
    }
}
