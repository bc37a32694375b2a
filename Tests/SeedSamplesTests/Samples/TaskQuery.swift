// swift-format-ignore-file
// The sample below stands as on the page.
import Foundation
import KizunaSync

enum TaskFilter: CaseIterable {
    case all, open, done, recent

/// `request` narrowed to this chip's tasks, by the server.
func applied<Request: OfflinePostgrestFilterBuilder>(to request: Request, recentWindow: DateInterval) -> Request {
    switch self {
    case .all: request
    case .open: request.neq("done", value: true)
    case .done: request.is("done", value: true)
    case .recent: TaskQuery.created(within: recentWindow, request)
    }
}
}

enum TaskQuery {
    static func created<Request: OfflinePostgrestFilterBuilder>(
        within window: DateInterval, _ request: Request
    ) -> Request {
        request.gte("created_at", value: window.start).lt("created_at", value: window.end)
    }

/// The tasks whose title holds `text`, in any case: `ilike`, which the server applies.
static func titleContains<Request: OfflinePostgrestFilterBuilder>(_ text: String, _ request: Request) -> Request {
    request.ilike("title", pattern: "%\(text)%")
}
}
