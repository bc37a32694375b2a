import KizunaCore
import KizunaStore
import Testing

/// Each state of the lease, as a process sees it that wants to take it.
@Suite struct LeaseTests {
    private static let me = LeaseHolder(process: 1, run: 10, opening: 1)
    private static let other = LeaseHolder(process: 2, run: 20, opening: 1)
    private static let length = Duration.seconds(10)

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let lease: Lease
        var isRunning = true
        let status: Lease.Status

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "nobody's", lease: Lease(), status: .free),
        Case(name: "mine", lease: Lease(holder: me, end: .seconds(105)), status: .mine),
        Case(name: "mine, run out and taken by nobody", lease: Lease(holder: me, end: .seconds(90)), status: .mine),
        Case(name: "another's", lease: Lease(holder: other, end: .seconds(104)), status: .others(.seconds(4))),
        Case(name: "another's, just taken", lease: Lease(holder: other, end: .seconds(110)), status: .others(length)),
        Case(name: "another's, at its end", lease: Lease(holder: other, end: .seconds(100)), status: .expired),
        Case(name: "another's, run out", lease: Lease(holder: other, end: .seconds(90)), status: .expired),
        Case(
            name: "another's, which was killed", lease: Lease(holder: other, end: .seconds(104)), isRunning: false,
            status: .holderDied),
        Case(
            name: "another's, of another length", lease: Lease(holder: other, end: .seconds(119)),
            status: .others(.seconds(19))),
        Case(
            name: "longer than a lease can be", lease: Lease(holder: other, end: .seconds(5_000)),
            status: .beforeReboot),
        Case(
            name: "another opening of this process",
            lease: Lease(holder: LeaseHolder(process: 1, run: 10, opening: 2), end: .seconds(104)),
            status: .others(.seconds(4))),
    ]

    @Test(arguments: cases)
    func theStateOfEachLease(_ each: Case) {
        let status = each.lease.status(
            for: Self.me, at: .seconds(100), length: Self.length, isRunning: { _ in each.isRunning })
        #expect(status == each.status)
        let isOthers = if case .others = each.status { true } else { false }
        #expect(status.isOpen == !isOthers)
    }
}
