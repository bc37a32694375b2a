internal import CSoup
package import Foundation
internal import Synchronization

/// A program that runs beside this process, started and awaited by GLib.
///
/// ```swift
/// let child = try ChildProcess(["/usr/bin/psql", "-X"], input: .pipe, output: .pipe)
/// try child.input?.write(contentsOf: Data("\\q\n".utf8))
/// let end = await child.end()
/// ```
/// The program gets the three files named here and no other open file of this process. Foundation's class hands a child
/// whatever another thread is just opening: a copy of somebody else's pipe, which then never ends; and it misses the end
/// of a child where several end at once.
package final class ChildProcess: Sendable {
    /// Where a standard file of the program leads.
    package enum Channel: Sendable, Equatable {
        /// Nowhere: nothing to read, and what is written is lost.
        case nothing
        /// To this process, through ``ChildProcess/input``, ``ChildProcess/output`` or ``ChildProcess/errors``.
        case pipe
        /// Only for the output: to the end of the file at this path, made where there is none.
        case file(String)
        /// Where this process's own leads.
        case inherited
        /// Only for errors: to where the output leads.
        case output
    }

    /// How the program ended.
    package enum End: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// Its number; nil where it had ended before anybody asked.
    package let id: Int32?
    /// What is written here the program reads; nil where the input is no pipe.
    package let input: FileHandle?
    /// What the program writes; nil where the output is no pipe.
    package let output: FileHandle?
    /// What the program reports; nil where the errors are no pipe.
    package let errors: FileHandle?

    private let handle: Handle
    private let ending: Ending

    /// Starts the program at the first path of the command line, with the words after it as its arguments.
    ///
    /// Without an environment it gets a copy of this process's variables, with one it gets those alone; without a folder
    /// it starts in this process's.
    ///
    /// - Throws: ``LocalError/programFailed(program:output:)`` where it cannot be started.
    package init(
        _ commandLine: [String], environment: [String: String]? = nil, folder: String? = nil,
        input: Channel = .nothing, output: Channel = .inherited, errors: Channel = .inherited
    ) throws(LocalError) {
        let launcher = Launcher(input: input, output: output, errors: errors)
        launcher.prepare(environment: environment, folder: folder)
        launcher.write(to: output)
        self.input = try launcher.connect(input, Launcher.takeInput, childWrites: false)
        self.output = try launcher.connect(output, Launcher.takeOutput, childWrites: true)
        self.errors = try launcher.connect(errors, Launcher.takeErrors, childWrites: true)
        handle = try launcher.launch(commandLine)
        id = handle.id
        ending = Ending()
        let thread = Thread { [handle, ending] in ending.come(handle.waitForEnd()) }
        thread.name = "kizuna-child"
        thread.start()
    }

    /// Waits for the end of the program; at once where it has ended.
    package func end() async -> End { await ending.end() }

    /// The name of a command line's program, without its folder.
    static func name(_ commandLine: [String]) -> String {
        commandLine.first?.split(separator: "/").last.map(String.init) ?? ""
    }

    /// Sends a signal; nothing happens where the program has ended.
    package func send(_ signal: Int32) { handle.send(signal) }

    /// What the program writes, to its end or until the text holds the word; blanks and line ends around it are cut.
    package func outputText(until word: String? = nil) async -> String {
        guard let output else { return "" }
        return await withCheckedContinuation { continuation in
            Thread {
                var bytes = Data()
                // What is there, without waiting for more.
                while case let part = output.availableData, !part.isEmpty {
                    bytes += part
                    if let word, bytes.firstRange(of: Data(word.utf8)) != nil { break }
                }
                let text = String(decoding: bytes, as: UTF8.self)
                continuation.resume(returning: text.trimmingCharacters(in: .whitespacesAndNewlines))
            }.start()
        }
    }
}

extension ChildProcess {
    /// GLib's object.
    ///
    /// Safe because a `GSubprocess` may be waited for and signalled from any thread, and the pointer never changes.
    private final class Handle: @unchecked Sendable {
        private let process: OpaquePointer

        init(_ process: OpaquePointer) { self.process = process }

        deinit { g_object_unref(UnsafeMutableRawPointer(process)) }

        var id: Int32? { g_subprocess_get_identifier(process).flatMap { Int32(String(cString: $0)) } }

        func send(_ signal: Int32) { g_subprocess_send_signal(process, signal) }

        func waitForEnd() -> End {
            g_subprocess_wait(process, nil, nil)
            guard g_subprocess_get_if_signaled(process) == 0 else {
                return .signalled(g_subprocess_get_term_sig(process))
            }
            return .exited(g_subprocess_get_exit_status(process))
        }
    }

    /// What a child is started with.
    private struct Launcher: ~Copyable {
        private let launcher: OpaquePointer

        init(input: Channel, output: Channel, errors: Channel) {
            var flags = GSubprocessFlags(rawValue: 0)
            func add(_ flag: GSubprocessFlags, where isMeant: Bool) {
                if isMeant { flags = GSubprocessFlags(rawValue: flags.rawValue | flag.rawValue) }
            }
            add(G_SUBPROCESS_FLAGS_STDIN_INHERIT, where: input == .inherited)
            add(G_SUBPROCESS_FLAGS_STDOUT_SILENCE, where: output == .nothing)
            add(G_SUBPROCESS_FLAGS_STDERR_SILENCE, where: errors == .nothing)
            add(G_SUBPROCESS_FLAGS_STDERR_MERGE, where: errors == .output)
            launcher = g_subprocess_launcher_new(flags)
        }

        // Frees the child's ends of the pipes too.
        deinit { g_object_unref(UnsafeMutableRawPointer(launcher)) }

        func prepare(environment: [String: String]?, folder: String?) {
            if let environment {
                var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
                defer { for variable in variables { free(variable) } }
                g_subprocess_launcher_set_environ(launcher, &variables)
            }
            if let folder { g_subprocess_launcher_set_cwd(launcher, folder) }
        }

        func write(to output: Channel) {
            if case .file(let path) = output { g_subprocess_launcher_set_stdout_file_path(launcher, path) }
        }

        static func takeInput(_ launcher: OpaquePointer, _ file: Int32) {
            g_subprocess_launcher_take_stdin_fd(launcher, file)
        }
        static func takeOutput(_ launcher: OpaquePointer, _ file: Int32) {
            g_subprocess_launcher_take_stdout_fd(launcher, file)
        }
        static func takeErrors(_ launcher: OpaquePointer, _ file: Int32) {
            g_subprocess_launcher_take_stderr_fd(launcher, file)
        }

        /// Makes a pipe where one is asked for, gives its far end to the child and returns the near one.
        func connect(
            _ channel: Channel, _ take: (OpaquePointer, Int32) -> Void, childWrites: Bool
        ) throws(LocalError) -> FileHandle? {
            guard channel == .pipe else { return nil }
            var ends: [Int32] = [-1, -1]
            var fault: UnsafeMutablePointer<GError>?
            guard g_unix_open_pipe(&ends, FD_CLOEXEC, &fault) != 0 else {
                throw .programFailed(program: "pipe", output: Self.text(fault))
            }
            take(launcher, childWrites ? ends[1] : ends[0])
            return FileHandle(fileDescriptor: childWrites ? ends[0] : ends[1], closeOnDealloc: true)
        }

        func launch(_ commandLine: [String]) throws(LocalError) -> Handle {
            var words: [UnsafePointer<CChar>?] = commandLine.map { UnsafePointer(strdup($0)) } + [nil]
            defer { for word in words { free(UnsafeMutablePointer(mutating: word)) } }
            var fault: UnsafeMutablePointer<GError>?
            guard let process = g_subprocess_launcher_spawnv(launcher, &words, &fault) else {
                throw .programFailed(program: ChildProcess.name(commandLine), output: Self.text(fault))
            }
            return Handle(process)
        }

        private static func text(_ fault: UnsafeMutablePointer<GError>?) -> String {
            defer { g_error_free(fault) }
            return fault?.pointee.message.map { String(cString: $0) } ?? "unknown"
        }
    }

    /// The end, for whoever waits for it.
    private final class Ending: Sendable {
        private struct State {
            var end: End?
            var waiting: [CheckedContinuation<End, Never>] = []
        }
        private let state = Mutex(State())

        func come(_ end: End) {
            let waiting = state.withLock { state in
                state.end = end
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in waiting { waiter.resume(returning: end) }
        }

        func end() async -> End {
            await withCheckedContinuation { continuation in
                let end = state.withLock { state in
                    if state.end == nil { state.waiting.append(continuation) }
                    return state.end
                }
                if let end { continuation.resume(returning: end) }
            }
        }
    }
}
