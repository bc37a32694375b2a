package import KizunaCore

// What goes into the queue's machine, and what comes out.

extension QueueMachine {
    package enum Event: Sendable {
        /// Writes were accepted, in queue order; also those found when the store was opened.
        case queued([QueueItem])
        /// A waiting write does something else now, in its place, or another process noted what became of a send of it.
        case rewritten(QueueItem)
        /// The app took a write out, or local data was cleared.
        case withdrawn([String])
        /// The answer, or its absence, for a flight. `jitter` is a fraction of [0, 1).
        case answered(flight: Int, WriteOutcome, jitter: Double)
        /// No whole answer came; `wasHandled` is false when it is proved that the server did not handle it.
        case unanswered(flight: Int, mayHaveBeenHandled: Bool, reason: String, jitter: Double)
        /// The note that precedes a send could not be written; nothing was sent.
        case notPersisted(flight: Int, jitter: Double)
        /// The turn was another process's: nothing is done about the flight, and its writes wait again. `heldByOther` is how
        /// long that process has it at least, nil where nobody has and the flight was decided on old news.
        case leaseLost(flight: Int, wasSent: Bool, heldByOther: Duration?)
        /// Another process sends the queue, at least so long; nil where none does any more.
        case leaseHeldByOther(Duration?)
        /// What reading the rows of a request's mutations showed.
        case lookedUp(flight: Int, LookUpResult, jitter: Double)
        /// The verdict is on disk.
        case committed(flight: Int)
        case commitFailed(flight: Int, jitter: Double)
        case timerFired(timer: Int)
        case pathChanged(isUp: Bool)
        case networkSwitched(isEnabled: Bool)
        /// Whether there is a token of the queue's owner to send with.
        case sessionChanged(isReady: Bool)
        /// Try at once whatever waits. `sync()` respects the pause that the server asked for by `Retry-After`;
        /// `enableNetwork()` does not.
        case retryRequested(respectingRetryAfter: Bool)
        case ended
    }

    package enum Effect: Sendable, Equatable {
        /// Persist that these may be sent, then send them in one request.
        case send(flight: Int, ids: [String], returnsRows: Bool)
        /// Send the same request again without asking for the rows.
        case resend(flight: Int, ids: [String])
        /// Read the rows of these mutations.
        case lookUp(flight: Int, ids: [String], LookUp)
        /// Write down: accepted. `resent` tells those whose earlier send had no known outcome.
        case commitDelivered(flight: Int, ids: [String])
        /// Write down: refused, with those that depend on it.
        case commitRejected(flight: Int, id: String, dependants: [String], ServerFailure)
        /// Write down that a send gave no verdict, and whether it may have been handled.
        case recordFailure(ids: [String], maybeSent: [String: Bool], reason: String)
        case startTimer(timer: Int, after: Duration)
        case cancelTimer(timer: Int)
        /// Ask the session for a fresh token; once until it changes.
        case requestSession
        case publish(QueueState)
    }

    /// Why the rows of a request's mutations are read.
    package enum LookUp: Sendable, Equatable {
        /// The server called a row a duplicate. Which of the rows are of this queue's own making?
        case duplicate(ServerFailure)
        /// The rows of deletes did not come back, but for those in `done`. Which are still there? The failure is the
        /// rejection of a delete whose row is.
        case deletedRows(done: Set<String>, ServerFailure)
        /// An update that gives its row another key met no row. Is there a row under the new key?
        case movedRow(ServerFailure)
    }

    /// What a look-up found.
    package enum LookUpResult: Sendable, Equatable {
        /// The mutations whose rows are there and of this queue's own making.
        case present(Set<String>)
        /// The deletes whose rows are still there.
        case remaining(Set<String>)
        /// The server showed only some of the rows.
        case notToBeTold
        case movedRow(isThere: Bool)
        /// The rows could not be read now.
        case failed
    }

    /// What the queue is doing, for status and health.
    package enum QueueState: Sendable, Equatable {
        case idle
        case draining
        case waitingForNetwork
        case waitingForSession
        case retrying(failures: Int)
    }

    /// What bounds one request and how many are out.
    package struct Limits: Sendable {
        package var flights = 4
        package var batchRows = 500
        package var batchBytes = 512 * 1024
        /// A server that takes less than this is met by halving alone.
        static let leastBatchBytes = 16 * 1024

        package init() {}
    }
}
