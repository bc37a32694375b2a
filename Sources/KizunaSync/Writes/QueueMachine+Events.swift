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
        /// Which of a flight's writes the server already has.
        case verified(flight: Int, present: Set<String>)
        /// The verdict is on disk.
        case committed(flight: Int)
        case commitFailed(flight: Int, jitter: Double)
        case timerFired(timer: Int)
        case pathChanged(isUp: Bool)
        case networkSwitched(isEnabled: Bool)
        /// Whether there is a token of the queue's owner to send with.
        case sessionChanged(isReady: Bool)
        /// `sync()`: try now whatever waits, unless the server asked to be left alone for a while.
        case hurried
        /// The app's explicit wish: try now, whatever the server asked for.
        case woken
        case ended
    }

    package enum Effect: Sendable, Equatable {
        /// Note durably that these may be sent, then send them in one request.
        case send(flight: Int, ids: [String])
        /// Ask the server which of these rows it has, after it called one of them a duplicate.
        case verify(flight: Int, ids: [String], ServerFailure)
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
