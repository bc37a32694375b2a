import KizunaCore
import KizunaSync
import Testing

/// The figures of docs/spec/scheduling.md, Timer and backoff, without a clock.
@Suite struct SchedulerWaitsTests {
    @Test(arguments: [
        (15, 0, 15), (15, 1, 30), (15, 9, 30), (4, 1, 8), (4, 2, 16), (4, 3, 30), (30, 5, 30), (60, 1, 60),
        (1, 4, 16), (1, 5, 30), (100_000, 3, 100_000),
    ])
    func pollIntervals(_ base: Int, _ failures: Int, _ grown: Int) {
        #expect(SchedulerWaits.pollInterval(.seconds(base), failures: failures) == .seconds(grown))
    }

    @Test(arguments: [(0, 0), (1, 1_000), (2, 2_000), (5, 16_000), (6, 30_000), (1_000, 30_000)])
    func floors(_ failures: Int, _ milliseconds: Int) {
        #expect(SchedulerWaits.floor(failures: failures) == .milliseconds(milliseconds))
    }

    @Test func stallAges() {
        #expect(SchedulerWaits.stallAge(nil, pollInterval: .seconds(15)) == .seconds(30))
        #expect(SchedulerWaits.stallAge(nil, pollInterval: .zero) == .seconds(30))
        #expect(SchedulerWaits.stallAge(nil, pollInterval: .seconds(60)) == .seconds(120))
        #expect(SchedulerWaits.stallAge(.seconds(5), pollInterval: .seconds(60)) == .seconds(5))
    }

    @Test func limits() {
        #expect(SchedulerWaits.deadline(.zero) == .seconds(1))
        #expect(SchedulerWaits.deadline(.seconds(120)) == .seconds(120))
        #expect(SchedulerWaits.retryAfter(.seconds(60)) == .seconds(60))
        #expect(SchedulerWaits.retryAfter(.seconds(6_000)) == .seconds(600))
    }
}
