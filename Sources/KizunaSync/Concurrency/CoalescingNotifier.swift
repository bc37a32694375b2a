internal import Synchronization

/// Notifies listeners of the current state, one notification at a time: no listener receives an older state after a newer one.
///
/// A change during a notification is notified by the same caller afterwards, so a listener may cause a change itself.
package final class CoalescingNotifier: Sendable {
    private struct State {
        var isNotifying = false
        var hasChanged = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Calls `tell` at least once after this call began, and never concurrently. `tell` reads the current state itself.
    package func tell(_ tell: () -> Void) {
        let isNotifier = state.withLock { state in
            state.hasChanged = true
            guard !state.isNotifying else { return false }
            state.isNotifying = true
            return true
        }
        guard isNotifier else { return }
        while state.withLock({ Self.takeChange(&$0) }) { tell() }
    }

    private static func takeChange(_ state: inout State) -> Bool {
        state.isNotifying = state.hasChanged
        defer { state.hasChanged = false }
        return state.hasChanged
    }
}
