import Foundation
import KizunaTransport
import Synchronization
import Testing

/// The platform's path monitor on this machine, as it is.
@Suite(.timeLimit(.minutes(1))) struct PathMonitorTests {
    @Test func theFirstReportComesWithoutAChange() async {
        let (reports, continuation) = AsyncStream.makeStream(of: Bool.self)
        let monitor = PlatformPathMonitor()
        monitor.start { continuation.yield($0) }
        var iterator = reports.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first != nil)
        monitor.cancel()
        monitor.cancel()
    }

    @Test func aMonitorStartsAgainAfterItWasCancelled() async {
        let monitor = PlatformPathMonitor()
        var seen: [Bool?] = []
        for _ in 0..<3 {
            let (reports, continuation) = AsyncStream.makeStream(of: Bool.self)
            monitor.start { continuation.yield($0) }
            var iterator = reports.makeAsyncIterator()
            seen.append(await iterator.next())
            monitor.cancel()
        }
        #expect(seen.count == 3)
        #expect(Set(seen).count == 1)
    }

    @Test func aStartTakesThePreviousListenersPlace() async {
        let monitor = PlatformPathMonitor()
        let (reports, continuation) = AsyncStream.makeStream(of: Int.self)
        monitor.start { _ in continuation.yield(1) }
        monitor.start { _ in continuation.yield(2) }
        var iterator = reports.makeAsyncIterator()
        var last = await iterator.next()
        if last == 1 { last = await iterator.next() }
        #expect(last == 2)
        monitor.cancel()
    }

    @Test func manyStartsAndCancelsFromManyThreadsEndQuietly() async {
        let monitor = PlatformPathMonitor()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask { index % 2 == 0 ? monitor.start { _ in } : monitor.cancel() }
            }
        }
        monitor.cancel()
        let (reports, continuation) = AsyncStream.makeStream(of: Bool.self)
        monitor.start { continuation.yield($0) }
        var iterator = reports.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        monitor.cancel()
    }
}
