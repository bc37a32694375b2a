internal import Foundation

/// One benchmark: what it is called, and how it is run.
struct Benchmark: Sendable {
    let name: String
    let run: @Sendable (_ isQuick: Bool) async throws -> [Figure]
}

/// Runs the benchmarks one after another and prints what came out.
struct BenchRun {
    private static let all = [
        // First, while the process holds no freed memory that would hide what this takes.
        Benchmark(name: "memory", run: PeakMemory.run),
        Benchmark(name: "disk", run: DiskSync.run),
        Benchmark(name: "write", run: WriteToEmission.run),
        Benchmark(name: "answer", run: ResponseStored.run),
        Benchmark(name: "open", run: OpenToSnapshot.run),
        Benchmark(name: "reads", run: ManyReads.run),
        Benchmark(name: "enqueue", run: Enqueue.run),
        Benchmark(name: "drain", run: Drain.run),
        Benchmark(name: "overlay", run: Overlay.run),
        Benchmark(name: "http", run: HTTPRate.run),
    ]

    private let options: BenchOptions

    init(_ options: BenchOptions) { self.options = options }

    /// Runs to the end; the value is the exit status. A goal missed is no failure: times depend on the machine.
    func perform() async -> Int32 {
        var figures: [Figure] = []
        var hasFailed = false
        if !options.printsJSON { say(Report.head) }
        for benchmark in Self.all where options.only.map({ benchmark.name.contains($0) }) ?? true {
            do {
                let found = try await benchmark.run(options.isQuick)
                figures += found
                if !options.printsJSON { for figure in found { say(Report.line(figure)) } }
            } catch {
                hasFailed = true
                FileHandle.standardError.write(Data("kizuna-bench \(benchmark.name): \(error)\n".utf8))
            }
        }
        if options.printsJSON { say(Report.json(figures)) }
        return hasFailed ? 1 : 0
    }

    /// Prints at once, also into a pipe.
    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
