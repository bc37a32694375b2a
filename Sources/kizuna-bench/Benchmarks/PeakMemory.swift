internal import Foundation
internal import KizunaCore
internal import KizunaStore

/// The peak memory of storing a large response, without the response itself.
enum PeakMemory {
    static func run(isQuick: Bool) async throws -> [Figure] {
        let count = isQuick ? 10_000 : 100_000
        guard let before = Self.highest(reset: true) else { return [] }
        _ = before
        return try await withFolder { folder in
            let logicalClock = LogicalClock()
            let store = try OwnerStore(
                file: StoreFile(path: folder.appendingPathComponent("vault").path), owner: "bench",
                logicalClock: logicalClock,
                now: Date()
            ) { _ in }
            let body = BenchRows.response(0..<count)
            guard let present = highest(reset: true) else { return [] }
            _ = try await ResponseStored.persist(body, in: store, at: logicalClock)
            let peak = highest(reset: false) ?? present
            await store.close()
            return [
                Figure("memory, answer of \(count) rows itself", Double(body.count) / 1_048_576, .megabytes),
                Figure(
                    "memory, peak over the answer while it is stored", Double(peak - present) / 1_048_576, .megabytes,
                    goal: .atMost(32)),
            ]
        }
    }

    /// The peak resident memory of the process in bytes, on Linux; `reset` first sets the peak to the current value.
    private static func highest(reset: Bool) -> Int? {
        if reset {
            guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return nil }
            file.write(Data("5".utf8))
            file.closeFile()
        }
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
            .flatMap { Int($0) }.map { $0 * 1_024 }
    }
}
