// swift-format-ignore-file
// The sample below stands as on the page.
import KizunaSync

@MainActor
struct SyncView {
    let app: App

    var text: String { refreshText }

/// The task list's refresh, in words.
private var refreshText: String {
    guard app.session.userID != nil else { return "Waits for the first sign-in" }
    switch app.tasks.refresh {
    case .idle: return "Up to date with the server"
    case .refreshing: return "Asking the server…"
    case .paused: return "Paused while offline"
    case .stalled: return "Can’t reach the server — showing saved data"
    }
}
}
