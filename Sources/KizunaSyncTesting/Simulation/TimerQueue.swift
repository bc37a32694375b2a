internal import KizunaCore

/// Entries in the order (instant, insertion), with removal by id. A removed entry does not count as the first.
struct TimerQueue<Payload> {
    private struct Slot {
        let instant: MonotonicInstant
        let id: UInt64

        func precedes(_ other: Slot) -> Bool {
            instant == other.instant ? id < other.id : instant < other.instant
        }
    }

    private var heap: [Slot] = []
    private var payloads: [UInt64: Payload] = [:]
    private var lastID: UInt64 = 0

    /// The instant of the first entry.
    var firstInstant: MonotonicInstant? {
        mutating get {
            dropRemoved()
            return heap.first?.instant
        }
    }

    mutating func insert(_ payload: Payload, at instant: MonotonicInstant) -> UInt64 {
        lastID += 1
        payloads[lastID] = payload
        heap.append(Slot(instant: instant, id: lastID))
        var child = heap.count - 1
        while child > 0, heap[child].precedes(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
        return lastID
    }

    mutating func remove(id: UInt64) {
        payloads[id] = nil
    }

    /// Removes and returns the first entry if its instant is not after this one.
    mutating func popFirst(notLaterThan instant: MonotonicInstant) -> Payload? {
        guard let first = firstInstant, first <= instant else { return nil }
        return payloads.removeValue(forKey: popSlot().id)
    }

    mutating func removeAll() {
        heap = []
        payloads = [:]
    }

    private mutating func dropRemoved() {
        while let first = heap.first, payloads[first.id] == nil { _ = popSlot() }
    }

    private mutating func popSlot() -> Slot {
        heap.swapAt(0, heap.count - 1)
        let slot = heap.removeLast()
        var parent = 0
        while true {
            var first = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].precedes(heap[first])
            {
                first = child
            }
            guard first != parent else { return slot }
            heap.swapAt(parent, first)
            parent = first
        }
    }
}
