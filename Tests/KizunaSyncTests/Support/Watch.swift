import Foundation
import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Synchronization

/// Iterates a live read in a task of its own and keeps what it got.
final class Watch<Value: Decodable & Sendable>: Sendable {
    private struct State {
        var emissions: [QuerySnapshot<Value>] = []
        var end: String?
    }

    private let state = Mutex(State())
    private let task = Mutex<Task<Void, any Error>?>(nil)

    init(_ sequence: QuerySnapshotSequence<Value>, in simulation: Simulation) {
        let running = simulation.start { [self] in
            do {
                for try await snapshot in sequence { state.withLock { $0.emissions.append(snapshot) } }
                state.withLock { $0.end = "completed" }
            } catch let error as SyncError {
                state.withLock { $0.end = error.code.rawValue }
            } catch {
                state.withLock { $0.end = "\(type(of: error))" }
            }
        }
        task.withLock { $0 = running }
    }

    func cancel() { task.withLock { $0 }?.cancel() }

    var emissions: [QuerySnapshot<Value>] { state.withLock { $0.emissions } }
    /// `completed`, the code of the error it threw, or nil while it goes on.
    var end: String? { state.withLock { $0.end } }
}

extension Watch where Value == [TaskRow] {
    /// Each emission as one line that holds all of its fields.
    var lines: [String] { emissions.map(\.line) }
}

extension QuerySnapshot where Value == [TaskRow] {
    /// `[one, two] cache @0.05 pending refreshing complete`
    var line: String {
        let rows = result.map { "[" + $0.map(\.title).joined(separator: ", ") + "]" } ?? "nil"
        return "\(rows) \(fields)"
    }
}

extension QuerySnapshot {
    var fields: String {
        var words = [isFromCache ? "cache" : "server"]
        words.append(
            fetchedAt.map { date in
                let milliseconds = (date.timeIntervalSince(Simulation.startDate) * 1000).rounded()
                return "@\(milliseconds / 1000)"
            } ?? "@never")
        if hasPendingMutations { words.append("pending") }
        switch refresh {
        case .idle: words.append("idle")
        case .refreshing: words.append("refreshing")
        case .paused: words.append("paused")
        case .stalled(let cause): words.append("stalled(\(cause.code.rawValue))")
        }
        if isComplete { words.append("complete") }
        if let count { words.append("count=\(count)") }
        return words.joined(separator: " ")
    }
}
