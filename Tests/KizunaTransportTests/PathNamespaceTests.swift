#if os(Linux)
    import Foundation
    import KizunaLocal
    import Testing

    /// The monitor in a network of its own whose link goes down and up (`scripts/path-check`).
    @Suite(.timeLimit(.minutes(3))) struct PathNamespaceTests {
        private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()

        @Test func aLinkThatGoesDownAndUpIsReported() async throws {
            let check = try ChildProcess(
                [Self.root.appendingPathComponent("scripts/path-check").path, program().path], output: .pipe,
                errors: .output)
            let text = await check.outputText()
            let end = await check.end()
            if end == .exited(77) {
                print("skipped: \(text)")
                return
            }
            #expect(end == .exited(0), "\(text)")
            #expect("\(text)\n".contains("reported: offline online offline online\n"), "\(text)")
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
