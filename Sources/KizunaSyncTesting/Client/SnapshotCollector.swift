public import KizunaSync
internal import Synchronization

/// Iterates a live read and keeps every snapshot.
///
/// ```swift
/// let tasks = SnapshotCollector(client.from("tasks").selectAsSequence(as: [TaskRow].self), in: simulation)
/// await simulation.settle()
/// #expect(tasks.latest?.result == [])
/// ```
public final class SnapshotCollector<Value: Decodable & Sendable>: Sendable {
    private struct State {
        var snapshots: [QuerySnapshot<Value>] = []
        var outcome: Result<Void, any Error>?
        var task: Task<Void, any Error>?
    }

    private let state = Mutex(State())

    /// Starts iterating in a task of the simulation.
    public init(_ sequence: QuerySnapshotSequence<Value>, in simulation: Simulation) {
        let task = simulation.start { [self] in
            do {
                for try await snapshot in sequence { state.withLock { $0.snapshots.append(snapshot) } }
                state.withLock { $0.outcome = .success(()) }
            } catch {
                state.withLock { $0.outcome = .failure(error) }
            }
        }
        state.withLock { $0.task = task }
    }

    /// The snapshots so far, oldest first.
    public var snapshots: [QuerySnapshot<Value>] { state.withLock { $0.snapshots } }

    /// The newest snapshot.
    public var latest: QuerySnapshot<Value>? { state.withLock { $0.snapshots.last } }

    /// Whether the sequence has ended or failed.
    public var hasEnded: Bool { state.withLock { $0.outcome != nil } }

    /// The error that ended the sequence.
    public var error: (any Error)? {
        state.withLock { state in
            if case .failure(let error) = state.outcome { error } else { nil }
        }
    }

    /// Ends the live read.
    public func cancel() { state.withLock { $0.task }?.cancel() }
}
