import KizunaCore
import Testing

@Suite struct RetryScheduleTests {
    @Test func theRefreshScheduleIsTheSeeds() {
        let waits = (1...8).map { RetrySchedule.refresh.wait(afterFailure: $0) }
        #expect(
            waits == [
                .milliseconds(300), .milliseconds(900), .milliseconds(2400), .seconds(5), .seconds(15), .seconds(60),
                .seconds(60), .seconds(60),
            ])
        let untilStalled = waits[..<(RetrySchedule.failuresUntilStalled - 1)].reduce(Duration.zero, +)
        #expect(untilStalled == .milliseconds(3600))
    }

    @Test(arguments: [(Int.min, 1), (-1, 1), (0, 1), (1, 1), (2, 2), (3, 2), (Int.max, 2)])
    func anyCountHasAWait(_ failures: Int, _ seconds: Int) {
        #expect(RetrySchedule(waits: [.seconds(1), .seconds(2)]).wait(afterFailure: failures) == .seconds(seconds))
    }

    @Test func aBusyServerIsAskedThreeTimesMore() {
        #expect(RetrySchedule.busyServer == [.seconds(1), .seconds(2), .seconds(4)])
    }

    @Test func jitterStaysBetweenHalfAndWhole() {
        let whole = Duration.milliseconds(900)
        #expect(whole.jittered(0) == .milliseconds(450))
        #expect(whole.jittered(0.5) == .milliseconds(675))
        for step in 0..<1000 {
            let wait = whole.jittered(Double(step) / 1000)
            #expect(wait >= .milliseconds(450) && wait < whole)
        }
        #expect(Duration.zero.jittered(0.9) == .zero)
        #expect(Duration.seconds(1_000_000).jittered(0.999) < .seconds(1_000_000))
    }

    @Test func secondsAreExactEnoughForAWallClock() {
        #expect(Duration.milliseconds(1500).seconds == 1.5)
        #expect(Duration.seconds(-3600).seconds == -3600)
        #expect(Duration.zero.seconds == 0)
    }

    @Test func instantsAddAndSubtract() {
        let later = MonotonicInstant.zero + .seconds(3)
        #expect(later - .zero == .seconds(3))
        #expect(MonotonicInstant.zero < later)
    }

    @Test func ticksNeverRepeatAcrossThreads() async {
        let source = LogicalClock()
        let ticks = await withTaskGroup(of: [LogicalTime].self) { group in
            for _ in 0..<8 { group.addTask { (0..<1000).map { _ in source.next() } } }
            return await group.reduce(into: [LogicalTime]()) { $0 += $1 }
        }
        #expect(Set(ticks).count == 8000)
        #expect(ticks.max() == LogicalTime(8000))
        #expect(ticks.allSatisfy { .zero < $0 })
    }
}
