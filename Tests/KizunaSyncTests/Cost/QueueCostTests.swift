import KizunaCore
import KizunaStore
import KizunaSync
import Testing

/// How far the queue's machine looks for one event, by the length of the queue.
@Suite struct QueueCostTests {
    private static let table = TableID(name: "tasks")

    /// A write that travels alone and touches one row.
    private static func item(_ number: Int, row: Int) -> QueueItem {
        let key = RowKey(text: "k\(row)")
        return QueueItem(
            id: "w\(number)", sequence: Int64(number), table: table, tokens: [.row(table, key)], signature: nil,
            bytes: 10, needs: [key])
    }

    private static func machine(_ items: [QueueItem]) -> (QueueMachine, [QueueMachine.Effect]) {
        var machine = QueueMachine(isPathUp: true, isEnabled: true, isSessionReady: true)
        let effects = machine.handle(.queued(items))
        return (machine, effects)
    }

    @Test func oneMoreWriteBehindManyThatWaitForOneRowIsLookedAtAlone() {
        var (machine, _) = Self.machine((0..<10_000).map { Self.item($0, row: 1) })
        #expect(machine.stepsOfLastEvent == 10_000)
        let blocked = machine.handle(.queued([Self.item(10_000, row: 1)]))
        #expect(machine.stepsOfLastEvent == 1)
        #expect(blocked.isEmpty)
        let free = machine.handle(.queued([Self.item(10_001, row: 2)]))
        #expect(machine.stepsOfLastEvent == 1)
        #expect(free.contains { if case .send(_, ["w10001"], _) = $0 { true } else { false } })
    }

    @Test func drainingALongQueueLooksAtAFewItemsPerEvent() {
        var (machine, effects) = Self.machine((0..<2_000).map { Self.item($0, row: $0) })
        var most = 0
        var sent: [String] = []
        while !effects.isEmpty {
            var next: [QueueMachine.Effect] = []
            for effect in effects {
                switch effect {
                case .send(let flight, let ids, _):
                    sent += ids
                    next += machine.handle(.answered(flight: flight, .delivered, jitter: 0))
                case .commitDelivered(let flight, _): next += machine.handle(.committed(flight: flight))
                default: continue
                }
                most = max(most, machine.stepsOfLastEvent)
            }
            effects = next
        }
        #expect(machine.depth == 0)
        #expect(sent == (0..<2_000).map { "w\($0)" })
        #expect(most <= 8)
    }
}
