internal import Dispatch
internal import Foundation
internal import KizunaCore
internal import Synchronization

/// Notifies the processes that share a store of each other's commits.
///
/// Each process has an empty notification file beside the store and watches it. After a commit, a process writes one
/// byte to the notification file of each other process. It does not notify itself, and a single process writes nothing.
/// The notification follows the commit, so the receiver can read the commit. The store's own files change before the
/// commit is visible; watching them would not ensure this.
package final class PlatformSignal: ChangeSignal {
    private struct State {
        var notificationFile: String?
        var watch: NotificationFileWatch?
        /// Used if the system has no watches.
        var fallback: (any DispatchSourceTimer)?
        var heard: (@Sendable () -> Void)?
        /// The notification files of the other processes, by name.
        var others: [String: NotificationFile] = [:]
    }

    private struct NotificationFile {
        let file: Int32
        let process: Int32
    }

    private static let notificationFiles = Atomic<Int>(0)
    /// The interval of checking the store if no signal can be received.
    private static let pollInterval = DispatchTimeInterval.milliseconds(150)

    private let path: String
    private let folder: String
    /// The common prefix of the notification files of the store.
    private let prefix: String
    private let state = Mutex(State())

    /// Creates the signal of the store at a path.
    package static func of(_ path: String) -> PlatformSignal { PlatformSignal(path: path) }

    package init(path: String) {
        let file = URL(fileURLWithPath: path)
        self.path = path
        folder = file.deletingLastPathComponent().path
        prefix = file.lastPathComponent + "-door-"
    }

    deinit { stop() }

    package func start(heard: @escaping @Sendable () -> Void) {
        let name = "\(prefix)\(getpid())-\(Self.notificationFiles.add(1, ordering: .relaxed).newValue)"
        let notificationFile = "\(folder)/\(name)"
        let file = open(notificationFile, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
        if file >= 0 {
            // Independent of the umask: the other processes must be able to write.
            fchmod(file, 0o600)
            close(file)
        }
        let watch = file < 0 ? nil : NotificationFileWatch(notificationFile: notificationFile, folder: folder)
        let isListening =
            watch?.start { [weak self] news in
                switch news {
                case .notify: self?.hear()
                case .folder: self?.lookAround()
                case .end: self?.lookAround(isEnd: true)
                }
            } ?? false
        state.withLock { state in
            state.heard = heard
            state.notificationFile = notificationFile
            state.watch = isListening ? watch : nil
            state.fallback = isListening ? nil : poll()
        }
        lookAround()
        // Another process may have written to the file after its creation and before the watch.
        if state.withLock({ !$0.others.isEmpty }) { hear() }
    }

    package func tell() {
        state.withLock { state in
            guard !state.others.isEmpty else { return }
            var byte: UInt8 = 0
            for notificationFile in state.others.values { _ = pwrite(notificationFile.file, &byte, 1, 0) }
        }
    }

    package func stop() {
        let previous = state.withLock { state in
            defer { state = State() }
            return state
        }
        if let notificationFile = previous.notificationFile { unlink(notificationFile) }
        previous.watch?.stop()
        previous.fallback?.cancel()
        for notificationFile in previous.others.values { close(notificationFile.file) }
    }

    private func hear() {
        state.withLock { $0.heard }?()
    }

    private func poll() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: DispatchQueue.global())
        timer.schedule(deadline: .now() + Self.pollInterval, repeating: Self.pollInterval)
        timer.setEventHandler { [weak self] in
            self?.lookAround()
            self?.hear()
        }
        timer.resume()
        return timer
    }

    // MARK: - Other processes

    /// Updates the list of other processes. New ones are notified, since they missed earlier commits.
    private func lookAround(isEnd: Bool = false) {
        let isNews = state.withLock { state -> Bool in
            guard let own = state.notificationFile else { return false }
            let present = Set(names()).subtracting([URL(fileURLWithPath: own).lastPathComponent])
            var isNews = isEnd || !FileManager.default.fileExists(atPath: path)
            for (name, notificationFile) in state.others
            where !present.contains(name) || !Self.isRunning(notificationFile.process) {
                close(notificationFile.file)
                state.others[name] = nil
                isNews = true
            }
            for name in present where state.others[name] == nil {
                guard let process = Self.process(of: name, prefix) else { continue }
                guard Self.isRunning(process) else {
                    // The process was killed.
                    unlink("\(folder)/\(name)")
                    continue
                }
                let file = open("\(folder)/\(name)", O_WRONLY | O_CLOEXEC)
                guard file >= 0 else { continue }
                state.others[name] = NotificationFile(file: file, process: process)
                if process != getpid() { state.watch?.follow(process) }
                var byte: UInt8 = 0
                _ = pwrite(file, &byte, 1, 0)
            }
            return isNews
        }
        if isNews { hear() }
    }

    private func names() -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return all.filter { $0.hasPrefix(prefix) }
    }

    private static func process(of name: String, _ prefix: String) -> Int32? {
        name.dropFirst(prefix.count).split(separator: "-").first.flatMap { Int32($0) }
    }

    private static func isRunning(_ process: Int32) -> Bool { HostProcess.live.isRunning(process) }
}

/// An event of a watch.
enum NotificationFileEvent: Sendable {
    /// Another process wrote to the notification file.
    case notify
    /// A file was added to the folder or removed from it.
    case folder
    /// A watched process has exited.
    case end
}
