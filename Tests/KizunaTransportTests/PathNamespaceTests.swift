#if os(Linux)
    import Foundation
    import Testing

    /// The monitor in a network of its own whose link goes down and up (`scripts/path-check`).
    @Suite(.timeLimit(.minutes(3))) struct PathNamespaceTests {
        private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()

        @Test func aLinkThatGoesDownAndUpIsReported() async throws {
            let process = Process()
            process.executableURL = Self.root.appendingPathComponent("scripts/path-check")
            process.arguments = [try program().path]
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            try process.run()
            let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            if process.terminationStatus == 77 {
                print("skipped: \(text)")
                return
            }
            #expect(process.terminationStatus == 0, "\(text)")
            #expect(text.contains("reported: offline online offline online\n"), "\(text)")
        }

        /// The probe lies beside the test bundle.
        private func program() throws -> URL {
            let folder = Bundle.main.executableURL?.deletingLastPathComponent() ?? Bundle.main.bundleURL
            let program = folder.appendingPathComponent("path-probe")
            try #require(FileManager.default.isExecutableFile(atPath: program.path), "no \(program.path)")
            return program
        }
    }
#endif
