import Foundation
import KizunaSync
import Supabase
import Synchronization

// The app's own types around the samples.

let kizunasync = KizunaSyncClient()
let supabase = SupabaseClient(
    supabaseURL: URL(fileURLWithPath: "/project"), supabaseKey: "key")

enum Tables {
    static let tasks = "tasks"
    static let taskPhotos = "task_photos"
}

struct TaskRow: Codable, Sendable, Equatable {
    var id: String
    var title: String
    var done: Bool
}

struct TaskPhotoRow: Codable, Sendable, Equatable {
    var id: String
    var taskId: String

    enum CodingKeys: String, CodingKey {
        case id
        case taskId = "task_id"
    }
}

struct SessionHolder: Sendable {
    var userID: String?
}

final class Failures: Sendable {
    private let codes = Mutex<[String]>([])

    var reported: [String] { codes.withLock { $0 } }

    func report(_ error: any Error) {
        codes.withLock { $0.append((error as? SyncError)?.code.rawValue ?? "other") }
    }
}

@MainActor
struct App {
    let session: SessionHolder
    let tasks: TasksModel
}
