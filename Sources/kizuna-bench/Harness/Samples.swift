internal import Foundation

/// The durations of a repeated operation.
struct Samples {
    private var times: [Duration] = []

    private let start = ContinuousClock.now

    mutating func add(_ time: Duration) { times.append(time) }

    /// Whether the measurement has taken enough time.
    var isLongEnough: Bool { start.duration(to: .now) > .seconds(3) }

    /// The percentile of the samples in milliseconds.
    func quantile(_ share: Double) -> Double {
        guard !times.isEmpty else { return 0 }
        let sorted = times.sorted()
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))].milliseconds
    }

    var count: Int { times.count }
    var p50: Double { quantile(0.5) }
    var p99: Double { quantile(0.99) }
}

extension Duration {
    var milliseconds: Double { seconds * 1_000 }
    var seconds: Double { self / .seconds(1) }
}

/// The processor time of all threads of this process, which does not depend on the load of the machine.
enum Processor {
    /// POSIX counts in microseconds.
    static var used: Duration { .microseconds(Int64(clock())) }
}

/// Returns the duration of an operation.
func time(_ body: () throws -> Void) rethrows -> Duration {
    let start = ContinuousClock.now
    try body()
    return start.duration(to: .now)
}

/// Returns the duration of an operation.
func time(_ body: () async throws -> Void) async rethrows -> Duration {
    let start = ContinuousClock.now
    try await body()
    return start.duration(to: .now)
}
