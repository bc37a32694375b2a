internal import KizunaCore
internal import Synchronization

/// The callers that follow the state of the queue until it is empty or cannot go on.
final class QueueWatchers: Sendable {
    private struct State {
        var channels: [Int: LatestValueChannel<QueueMachine.QueueState>] = [:]
        var last = 0
        var hasEnded = false
    }

    private let state = Mutex(State())

    func add() -> (id: Int, channel: LatestValueChannel<QueueMachine.QueueState>) {
        let channel = LatestValueChannel<QueueMachine.QueueState>()
        return state.withLock { state in
            state.last += 1
            if state.hasEnded { channel.finish() } else { state.channels[state.last] = channel }
            return (state.last, channel)
        }
    }

    func remove(_ id: Int) { state.withLock { $0.channels[id] = nil } }

    func publish(_ next: QueueMachine.QueueState) {
        for channel in state.withLock({ $0.channels.sorted { $0.key < $1.key }.map(\.value) }) { channel.put(next) }
    }

    func end() {
        let channels = state.withLock { state in
            state.hasEnded = true
            defer { state.channels = [:] }
            return state.channels.values.map { $0 }
        }
        for channel in channels { channel.finish() }
    }
}
