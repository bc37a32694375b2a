internal import Synchronization

/// Passes on what is true now, one telling at a time: who hears it never hears an older state after a newer one.
///
/// News that comes while another is being told is told by the same caller afterwards, so a listener may cause news itself.
package final class CoalescingNotifier: Sendable {
    private struct State {
        var isTelling = false
        var hasNews = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Calls `tell` at least once after this call began, never twice at a time. `tell` looks up what is true by itself.
    package func tell(_ tell: () -> Void) {
        let isNotifier = state.withLock { state in
            state.hasNews = true
            guard !state.isTelling else { return false }
            state.isTelling = true
            return true
        }
        guard isNotifier else { return }
        while state.withLock({ Self.takeNews(&$0) }) { tell() }
    }

    private static func takeNews(_ state: inout State) -> Bool {
        state.isTelling = state.hasNews
        defer { state.hasNews = false }
        return state.hasNews
    }
}
