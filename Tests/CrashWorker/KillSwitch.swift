internal import Foundation
internal import KizunaCore
internal import Synchronization

/// Where in its life the process kills or stops itself: at the nth passing of a place.
struct KillPoint: Sendable, Equatable {
    enum Place: String, Sendable {
        /// In the last moment before a commit of the store.
        case commit
        /// Before a write leaves.
        case send
        /// When the answer to a write has come, before anything is done with it.
        case response
    }

    let place: Place
    let count: Int
    /// It is stopped there, to be let go on by others, and not killed.
    let isStop: Bool

    /// For example `commit 3`, or `stop commit 3`.
    init?(text: String) {
        var parts = text.split(separator: " ")
        isStop = parts.first == "stop"
        if isStop { parts.removeFirst() }
        guard parts.count == 2, let place = Place(rawValue: String(parts[0])), let count = Int(parts[1]) else {
            return nil
        }
        self.place = place
        self.count = count
    }
}

/// Counts the passings of the point and ends the process there as a crash would: no handler runs, nothing is flushed.
final class KillSwitch: Sendable {
    private let point: KillPoint?
    private let passed = Mutex(0)

    init(_ point: KillPoint?) { self.point = point }

    func pass(_ place: KillPoint.Place) {
        guard let point, point.place == place else { return }
        let isThere = passed.withLock { count in
            count += 1
            return count == point.count
        }
        guard isThere else { return }
        guard !point.isStop else {
            CrashWorker.say("stopped")
            raise(SIGSTOP)
            return
        }
        kill(getpid(), SIGKILL)
        // The signal may take a moment to arrive; nothing more may happen until then.
        while true { pause() }
    }
}

/// A network that dies around writes; reads pass.
struct KillingTransport: WireTransport {
    let inner: any WireTransport
    let kill: KillSwitch
    let sender: String?

    func send(_ request: WireRequest) async throws -> WireResponse {
        var request = request
        if let sender { request.headers.append(WireHeader("X-Kizuna-Sender", sender)) }
        guard request.method != "GET" else { return try await inner.send(request) }
        kill.pass(.send)
        let response = try await inner.send(request)
        kill.pass(.response)
        return response
    }
}
