internal import Foundation
internal import KizunaCore
internal import KizunaLocal

/// `kizuna demo`: two devices against a real PostgreSQL. The exit status is 0 only if every step was observed.
enum DemoCommand {
    static func run(arguments: [String]) async -> Int32 {
        guard arguments.isEmpty else {
            print("usage: kizuna demo")
            return arguments.contains("--help") ? 0 : 64
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "kizuna-demo-\(ProcessInfo.processInfo.processIdentifier)")
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            let backend = try await LocalBackend.start(LocalSettings(sql: [DemoStory.schema]))
            do {
                let story = try await DemoStory(backend: backend, folder: folder)
                try await story.tell()
                await backend.stop()
                return 0
            } catch {
                print("\nNOT OBSERVED: \(error)")
                for request in backend.control.requests { print("  seen by the backend: \(request)") }
                await backend.stop()
                return 1
            }
        } catch {
            print("The local backend did not start: \(error)")
            return 1
        }
    }
}
