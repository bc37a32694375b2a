import Foundation
import KizunaCore
import KizunaLocal
import KizunaTransport
import Testing

/// The signal between processes; here two of one process, each with a door of its own.
@Suite(.timeLimit(.minutes(1))) struct PlatformSignalTests {
    /// A folder with a store file, and who listens there.
    private final class Scene {
        let folder: URL
        var store: String { folder.appendingPathComponent("store.sqlite").path }

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "kizuna-signal-\(getpid())-\(someNumber())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            _ = FileManager.default.createFile(atPath: store, contents: nil)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        var files: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.contains("-door-") }
        }
    }

    /// A signal, and what it hears one after another.
    private struct Listener {
        let signal: PlatformSignal
        private let heard: AsyncStream<Void>
        private let input: AsyncStream<Void>.Continuation

        init(_ scene: Scene) {
            signal = PlatformSignal(path: scene.store)
            (heard, input) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
            signal.start { [input] in input.yield() }
        }

        /// Waits for the next hearing.
        func hears() async { for await _ in heard { return } }
    }

    @Test func whoComesIsKnockedAtAndHearsEachTelling() async throws {
        let scene = try Scene()
        let one = Listener(scene)
        let two = Listener(scene)
        // Each may have missed what the other told before it knew of it.
        await one.hears()
        await two.hears()
        one.signal.tell()
        await two.hears()
        two.signal.tell()
        await one.hears()
        one.signal.stop()
        // That one left is news: what it held may be free.
        await two.hears()
        two.signal.stop()
        #expect(scene.files.isEmpty)
    }

    @Test func theDoorOfAKilledProcessIsTakenAway() async throws {
        let scene = try Scene()
        // A number no process has.
        let stale = scene.store + "-door-4194304-1"
        _ = FileManager.default.createFile(atPath: stale, contents: nil)
        let one = Listener(scene)
        #expect(!FileManager.default.fileExists(atPath: stale))
        #expect(scene.files.count == 1)
        one.signal.stop()
        one.signal.stop()
    }

    @Test func theEndOfAProcessIsHeard() async throws {
        let scene = try Scene()
        let sleeper = try ChildProcess(["/bin/sleep", "1000"])
        _ = FileManager.default.createFile(
            atPath: scene.store + "-door-\(try #require(sleeper.id))-1", contents: nil)
        let one = Listener(scene)
        // There is another.
        await one.hears()
        #expect(scene.files.count == 2)
        sleeper.send(SIGKILL)
        #expect(await sleeper.end() == .signalled(SIGKILL))
        await one.hears()
        #expect(scene.files.count == 1)
        one.signal.stop()
    }

    /// A process that has ended is there until its parent asks after it; it does not run.
    @Test func aProcessNobodyHasAskedAfterHasEnded() async throws {
        let scene = try Scene()
        var id: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("1000"), nil]
        defer { for text in arguments { free(text) } }
        #expect(posix_spawn(&id, "/bin/sleep", nil, nil, &arguments, nil) == 0)
        #expect(HostProcess.live.isRunning(id))
        _ = FileManager.default.createFile(atPath: scene.store + "-door-\(id)-1", contents: nil)
        let one = Listener(scene)
        await one.hears()
        kill(id, SIGKILL)
        await one.hears()
        #expect(!HostProcess.live.isRunning(id))
        var status: Int32 = 0
        waitpid(id, &status, 0)
        #expect(!HostProcess.live.isRunning(id))
        #expect(HostProcess.live.isRunning(getpid()))
        one.signal.stop()
    }

    @Test func theRemovalOfTheStoreIsHeard() async throws {
        let scene = try Scene()
        let one = Listener(scene)
        try FileManager.default.removeItem(atPath: scene.store)
        await one.hears()
        one.signal.stop()
    }

    @Test func doorsAreForThisUserAlone() throws {
        let scene = try Scene()
        let one = Listener(scene)
        let file = try #require(scene.files.first)
        let rights = try FileManager.default.attributesOfItem(
            atPath: scene.folder.appendingPathComponent(file).path)[.posixPermissions]
        #expect((rights as? NSNumber)?.intValue == 0o600)
        one.signal.stop()
    }
}

/// A number of its own for each folder.
private func someNumber() -> UInt64 { UInt64.random(in: 0 ... .max) }
