internal import Foundation

/// One benchmark: its name and its body.
struct Benchmark: Sendable {
    let name: String
    let run: @Sendable (_ isQuick: Bool) async throws -> [Figure]
}

/// Runs the benchmarks in sequence and prints the results.
struct BenchRun {
    private static let all = [
        // First, before the process has free memory that would hide the peak.
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

    /// Runs all benchmarks and returns the exit status. A missed goal is not a failure: times depend on the machine.
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

    /// Prints without buffering.
    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
