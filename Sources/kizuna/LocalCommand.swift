internal import Dispatch
internal import Foundation
internal import KizunaLocal

/// `kizuna local`: runs a local backend until it is told to stop.
enum LocalCommand {
    static let usage = """
        usage: kizuna local [--data DIR] [--port N] [--sql FILE]... [--schema NAME]... [--print-env]
               [--with-parent]

          --data DIR      keep the data in DIR and open it again the next time (default: throw it away)
          --port N        listen on 127.0.0.1:N (default: a free port)
          --sql FILE      run this SQL before the first request; may be given more than once
          --schema NAME   expose this schema; may be given more than once (default: public)
          --print-env     print shell assignments only
          --with-parent   stop when standard input closes, as it does when the parent ends
        """

    struct Options: Equatable {
        var settings: [String: String] = [:]
        var sqlFiles: [String] = []
        var schemas: [String] = []
        var printsEnvironment = false
        var endsWithInput = false
    }

    /// Runs to the end; the value is the exit status.
    static func run(arguments: [String]) async -> Int32 {
        guard !arguments.contains("--help") else {
            print(usage)
            return 0
        }
        let options: Options
        do throws(OptionError) {
            options = try parse(arguments)
        } catch {
            FileHandle.standardError.write(Data("kizuna local: \(error.message)\n\(usage)\n".utf8))
            return 2
        }
        // The signals are taken over before anything is started, so that none is lost meanwhile.
        let end = EndWait([SIGINT, SIGTERM, SIGHUP], withInput: options.endsWithInput)
        let settings = LocalSettings(
            dataDirectory: options.settings["--data"], sqlFiles: options.sqlFiles,
            port: options.settings["--port"].flatMap { Int($0) } ?? 0,
            schemas: options.schemas.isEmpty ? ["public"] : options.schemas)
        do {
            let backend = try await LocalBackend.start(settings)
            report(backend, asEnvironment: options.printsEnvironment)
            await end.first()
            await backend.stop()
            return 0
        } catch {
            FileHandle.standardError.write(Data("kizuna: \(error)\n".utf8))
            return 1
        }
    }

    /// An option that is not valid; the message names it.
    private struct OptionError: Error {
        let message: String
    }

    private static func parse(_ arguments: [String]) throws(OptionError) -> Options {
        var options = Options()
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--print-env": options.printsEnvironment = true
            case "--with-parent": options.endsWithInput = true
            case "--data", "--port", "--sql", "--schema":
                guard let value = rest.popFirst(), !value.isEmpty else {
                    throw OptionError(message: "\(word) needs a value")
                }
                if word == "--port", !(Int(value).map { 0...65_535 ~= $0 } ?? false) {
                    throw OptionError(message: "--port must be a number from 0 to 65535, not \(value)")
                }
                switch word {
                case "--sql": options.sqlFiles.append(value)
                case "--schema": options.schemas.append(value)
                default: options.settings[word] = value
                }
            default: throw OptionError(message: "unknown option \(word)")
            }
        }
        return options
    }

    private static func report(_ backend: LocalBackend, asEnvironment: Bool) {
        if asEnvironment {
            print("SUPABASE_URL=\(backend.url)")
            print("SUPABASE_ANON_KEY=\(backend.anonKey)")
            print("KIZUNA_DATABASE='\(backend.connectionString)'")
            print("SUPABASE_SERVICE_ROLE_KEY=\(backend.serviceRoleKey)")
        } else {
            print("url               \(backend.url)")
            print("anon key          \(backend.anonKey)")
            print("service_role key  \(backend.serviceRoleKey)")
            print("database          psql '\(backend.connectionString)'")
            print("Press Ctrl-C to stop.")
        }
        // Whoever started this through a pipe waits for these lines.
        fflush(nil)
    }
}

/// Waits for the first of some signals, or for the end of standard input.
private final class EndWait {
    private let stream: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init(_ signals: [Int32], withInput: Bool) {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        self.stream = stream
        sources = signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
        guard withInput else { return }
        Thread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            continuation.yield()
        }.start()
    }

    func first() async {
        for await _ in stream { return }
    }
}
