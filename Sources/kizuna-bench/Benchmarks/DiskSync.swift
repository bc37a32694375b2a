internal import Foundation

/// The time of one small durable write on this disk, a lower bound for every durable write.
enum DiskSync {
    static func run(isQuick: Bool) async throws -> [Figure] {
        try await withFolder { folder in
            let path = folder.appendingPathComponent("file").path
            guard FileManager.default.createFile(atPath: path, contents: nil),
                let file = FileHandle(forWritingAtPath: path)
            else { throw BenchFault("the disk takes no file") }
            var samples = Samples()
            let page = Data(repeating: 7, count: 4_096)
            for _ in 0..<(isQuick ? 20 : 200) {
                samples.add(
                    try time {
                        try file.write(contentsOf: page)
                        try file.synchronize()
                    })
            }
            try file.close()
            return [
                Figure("disk, 4 KB appended and synced, p50", samples.p50, .milliseconds),
                Figure("disk, 4 KB appended and synced, p99", samples.p99, .milliseconds),
            ]
        }
    }
}
