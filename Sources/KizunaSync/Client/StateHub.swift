internal import Synchronization

/// Holds one state and tells those who follow it of each change, the newest to each.
package final class StateHub<Value: Sendable & Equatable>: Sendable {
    private struct State {
        var value: Value
        var followers: [Int: LatestValueChannel<Value>] = [:]
        var last = 0
        var hasEnded = false
    }

    private let state: Mutex<State>

    package init(_ value: Value) { state = Mutex(State(value: value)) }

    package var value: Value { state.withLock { $0.value } }

    package func update(_ edit: (inout Value) -> Void) {
        // The mailboxes are filled under the lock, so that they end on the newest.
        state.withLock { state in
            let before = state.value
            edit(&state.value)
            guard state.value != before else { return }
            for follower in state.followers.values { follower.put(state.value) }
        }
    }

    package func follow() -> (channel: LatestValueChannel<Value>, stop: @Sendable () -> Void) {
        let channel = LatestValueChannel<Value>()
        let id = state.withLock { state in
            state.last += 1
            if state.hasEnded { channel.finish() } else { state.followers[state.last] = channel }
            channel.put(state.value)
            return state.last
        }
        return (channel, { [weak self] in self?.state.withLock { $0.followers[id] = nil } })
    }

    package func end() {
        let followers = state.withLock { state in
            state.hasEnded = true
            defer { state.followers = [:] }
            return state.followers.values.map { $0 }
        }
        for follower in followers { follower.finish() }
    }
}
