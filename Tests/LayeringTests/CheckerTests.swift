import Testing

/// Each checker is shown the fault it is there for, and something close to it that is none.
@Suite struct CheckerTests {
    private typealias Checker = (SourceFile) -> [Finding]

    private func lines(_ checker: Checker, _ path: String, _ text: String) -> [Int] {
        checker(SourceFile(path: path, text: text)).map(\.line).sorted()
    }

    @Test(arguments: [
        ("Sources/KizunaStore/A.swift", "import KizunaTransport"),
        ("Sources/KizunaTransport/A.swift", "internal import KizunaStore"),
        ("Sources/KizunaCore/A.swift", "public import KizunaSync"),
        ("Sources/KizunaLocal/A.swift", "@_exported import KizunaPostgREST"),
        ("Sources/KizunaLocal/A.swift", "package import struct KizunaSync.SyncStatus"),
        ("Sources/KizunaSync/A.swift", "import CSQLite"),
        ("Sources/KizunaTransport/HTTP/A.swift", "import CSoup"),
        ("Sources/KizunaNew/A.swift", ""),
    ])
    func importsAgainstTheArrowsAreFound(_ path: String, _ text: String) {
        #expect(lines(ImportChecker.findings, path, text) == [1])
    }

    @Test(arguments: [
        ("Sources/KizunaStore/A.swift", "internal import CSQLite\npackage import KizunaCore\nimport Foundation"),
        ("Sources/KizunaTransport/HTTP/Linux/A.swift", "    internal import CSoup"),
        ("Sources/KizunaCore/A.swift", "// import KizunaSync\nlet text = \"import KizunaSync\""),
        ("Tests/AnyTests/A.swift", "import KizunaStore\nimport KizunaTransport"),
    ])
    func importsAlongTheArrowsAreFine(_ path: String, _ text: String) {
        #expect(lines(ImportChecker.findings, path, text) == [])
    }

    @Test(arguments: [
        "func a() async {}", "let x = await y()", "Task { }", "actor A {}", "let now = Date()", "let id = UUID()",
        "Int.random(in: 0..<3)", "let m = Mutex(1)", "internal import Foundation", "import Synchronization",
        "import Dispatch", "let clock = ContinuousClock()",
    ])
    func impureMachinesAreFound(_ text: String) {
        #expect(!lines(PurityChecker.findings, "Sources/KizunaSync/Writes/QueueMachine.swift", text).isEmpty)
        #expect(!lines(PurityChecker.findings, "Sources/KizunaSync/Writes/QueueMachine+Waiting.swift", text).isEmpty)
        #expect(
            !lines(PurityChecker.findings, "Sources/KizunaSync/Writes/WriteOutcome.swift", "/// Pure.\n" + text).isEmpty
        )
        #expect(lines(PurityChecker.findings, "Sources/KizunaSync/Writes/QueueRunner.swift", text) == [])
        #expect(
            lines(PurityChecker.findings, "Sources/KizunaSync/Writes/QueueRunner.swift", "// Purely a note.\n" + text)
                == [])
    }

    @Test func pureMachinesAreFine() {
        let text = """
            import KizunaCore
            /// No await, no Task, no Date() in here.
            struct QueueMachine { var taskCount = 0; let at: MonotonicInstant; let updatedAt: Date? }
            """
        #expect(lines(PurityChecker.findings, "Sources/KizunaSync/Writes/QueueMachine.swift", text) == [])
    }

    @Test(arguments: [
        "@testable import KizunaCore", "let x = try! f()", "let x = y as! Int", "let x = y!", "f()!.count", "a[0]!",
        "var x: Int!", "g(x!)", "let x: [Int]!",
    ])
    func callsThatTrapAreFound(_ text: String) {
        #expect(lines(CallChecker.findings, "Tests/AnyTests/A.swift", text) == [1])
    }

    @Test(arguments: [
        "let x = a != b", "if !x { }", "guard !f(x), !y else { }", "// x!", "let s = \"Stop! x!\"", "let x = try? f()",
        "let t = \"\"\"\n    y!\n    \"\"\"", "let r = #\"x!\"#", "let i = \"\\(\"a!\")!\"", "#if !os(Linux)",
    ])
    func callsThatOnlyLookLikeTrapsAreFine(_ text: String) {
        #expect(lines(CallChecker.findings, "Tests/AnyTests/A.swift", text) == [])
    }

    @Test(arguments: [
        "Task { await f() }", "Task(priority: .high) { }", "Task<Void, Never> { }", "Task.detached { }",
        "try await Task.sleep(for: .seconds(1))", "let clock = ContinuousClock()", "let now = Date()",
        "let now = Date.now", "let id = UUID()", "Double.random(in: 0..<1)", "list.randomElement()", "list.shuffled()",
        "SystemRandomNumberGenerator()",
    ])
    func realTimeTasksAndRandomnessAreFoundInTheClient(_ text: String) {
        #expect(lines(CallChecker.findings, "Sources/KizunaSync/A.swift", text) == [1])
        #expect(lines(CallChecker.findings, "Sources/KizunaCore/SyncEnvironment+Live.swift", text) == [])
        #expect(lines(CallChecker.findings, "Sources/KizunaLocal/A.swift", text) == [])
    }

    @Test(arguments: [
        "try? await store.pending()", "let rows = (try? await gateway.read(request)) ?? []",
        "guard (try?  await f()) != nil else { return }",
    ])
    func ignoredErrorsOfStoreAndNetworkAreFound(_ text: String) {
        #expect(lines(CallChecker.findings, "Sources/KizunaSync/A.swift", text) == [1])
        #expect(lines(CallChecker.findings, "Tests/AnyTests/A.swift", text) == [])
        #expect(lines(CallChecker.findings, "Sources/KizunaSync/A.swift", "// " + text) == [])
    }

    @Test(arguments: [
        "TaskTicket { }", "try? await environment.sleep(.seconds(1))", "let members = try? row.objectMembers()",
        "try Task.checkCancellation()", "environment.random()", "Date(timeIntervalSince1970: 0)",
        "if Task.isCancelled { }", "let task: Task<Void, Never>", "UUID(uuidString: text)",
    ])
    func whatTheClientMayDoIsFine(_ text: String) {
        #expect(lines(CallChecker.findings, "Sources/KizunaSync/A.swift", text) == [])
    }

    @Test(arguments: [
        ("Sources/KizunaCore/A.swift", "let a = 1\n#if os(Linux)\n#endif", [2]),
        ("Sources/KizunaStore/A.swift", "#if canImport(FoundationNetworking)\n#endif", [1]),
        ("Sources/KizunaTransport/HTTP/A.swift", "#if canImport(Darwin)\n#endif", [1]),
        ("Sources/KizunaTransport/HTTP/A.swift", "#if DEBUG\n#elseif os(macOS)\n#endif", [2]),
        ("Sources/KizunaTransport/HTTP/A.swift", "#if canImport(FoundationNetworking)\n#endif", []),
        ("Sources/KizunaTransport/HTTP/Linux/A.swift", "// About.\n#if os(Linux)\nlet a = 1\n#endif\n", []),
        ("Sources/KizunaTransport/HTTP/Linux/A.swift", "import Foundation\n#if os(Linux)\n#endif", [1]),
        ("Sources/KizunaTransport/HTTP/Apple/A.swift", "#if os(macOS)\n#endif\n#if os(iOS)\n#endif", [1]),
        ("Sources/KizunaSync/Observation/A.swift", "#if canImport(SwiftUI)\n#endif", []),
        ("Sources/KizunaSync/Reads/A.swift", "#if SupabaseSwift\n#endif", []),
        ("Tests/AnyTests/A.swift", "#if os(Linux)\n#endif", []),
    ])
    func platformQuestionsStayInTheirPlaces(_ path: String, _ text: String, _ found: [Int]) {
        #expect(lines(PlatformChecker.findings, path, text) == found)
    }

    @Test(arguments: [
        ("final class A: @unchecked Sendable {}", [1]),
        ("// It is fine.\nfinal class A: @unchecked Sendable {}", [2]),
        ("// Safe because of x.\n\nfinal class A: @unchecked Sendable {}", [3]),
        ("nonisolated(unsafe) var a = 1", [1]),
        ("// Safe because the lock guards it.\nfinal class A: @unchecked Sendable {}", []),
        ("/// About.\n// Safe because of the lock,\n// and so on.\n@objc\nfinal class A: @unchecked Sendable {}", []),
        ("// Safe because it is written once.\nnonisolated(unsafe) var a = 1", []),
        ("// @unchecked Sendable is only named here", []),
    ])
    func claimsOfSafetyNeedAReason(_ text: String, _ found: [Int]) {
        #expect(lines(SafetyChecker.findings, "Sources/KizunaSync/A.swift", text) == found)
    }

    @Test(arguments: [
        "// TO" + "DO: later", "# FIX" + "ME", "open /wo" + "rk/x", "cd /ho" + "me/somebody/x", "see /Us" + "ers/you/x",
        "ls /ro" + "ot/x", "pip install -i https://py" + "pi.org/simple", "https://registry.np" + "mjs.org/x",
    ])
    func textsThatBelongNowhereAreFound(_ text: String) {
        #expect(lines(TextChecker.findings, "docs/a.md", "fine\n" + text) == [2])
    }

    @Test(arguments: ["https://example.test/work/x", "a framework/part", "$PWD/work/x", "/usr/lib/x", "Sources/work/"])
    func textsThatOnlyLookAlikeAreFine(_ text: String) {
        #expect(lines(TextChecker.findings, "docs/a.md", text) == [])
    }

    @Test func filesOverTheLimitAreFound() {
        let limit = TextChecker.lineLimit
        let atLimit = String(repeating: "a\n", count: limit)
        #expect(lines(TextChecker.findings, "Sources/KizunaSync/A.swift", atLimit) == [])
        #expect(lines(TextChecker.findings, "Sources/KizunaSync/A.swift", atLimit + "a\n") == [limit + 1])
        #expect(lines(TextChecker.findings, "scripts/a", atLimit + "a\n") == [limit + 1])
        #expect(lines(TextChecker.findings, "shared/cases.json", atLimit + "a\n") == [])
    }
}
