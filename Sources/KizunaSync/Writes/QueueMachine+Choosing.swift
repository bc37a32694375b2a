internal import KizunaCore

// Which mutations are sent next, and which travel together.

extension QueueMachine {
    var isWaitingForAll: Bool { timers.values.contains { $0 == .everything || $0 == .asked } }

    mutating func startWhatMayStart() {
        stepsOfLastEvent = 0
        guard isEnabled, isSessionReady, !isWaitingForAll, !isLeaseHeldByOther, !order.isEmpty else { return }
        guard isPathUp || failures > 0 else {
            // The monitor can be wrong: look anyway once in a while.
            if flights.isEmpty { startTimer(.everything, Self.blindProbe) }
            return
        }
        var at = scan ?? QueueScan(position: order.start)
        scan = nil
        at.steps = 0
        var busy = flights.count
        while busy < limits.flights, at.position < order.end {
            defer { at.position += 1 }
            guard let id = order[at.position], let entry = tracked[id] else { continue }
            at.steps += 1
            let isFree =
                entry.state == .waiting && !(entry.isStrict && at.isAnythingBefore)
                && !at.isInTheWay(of: entry.item.tokens)
            if isFree, entry.item.maybeSent, !entry.item.isRepeatable {
                giveUp(id)
                at.block(entry.item.tokens)
                busy += 1
            } else if isFree {
                let ids = batch(startingAt: at, entry)
                lastID += 1
                let returnsRows = !writeOnlyTables.contains(entry.item.table)
                flights[lastID] = Flight(ids: ids, before: maybeSent(ids), returnsRows: returnsRows)
                for member in ids {
                    tracked[member]?.state = .sending(lastID)
                    tracked[member]?.item.maybeSent = true
                    at.block(tracked[member]?.item.tokens ?? [])
                }
                busy += 1
                effects.append(.send(flight: lastID, ids: ids, returnsRows: returnsRows))
            } else {
                at.block(entry.item.tokens)
            }
            at.isAnythingBefore = true
        }
        stepsOfLastEvent = at.steps
        scan = at
    }

    mutating func queued(_ items: [QueueItem]) {
        for item in items {
            if let known = tracked[item.id] {
                // The app answers a refusal as soon as it is on disk, which may be before that is known here.
                guard known.item.sequence != item.sequence,
                    let flight = flights.first(where: { endedIDs($0.value).contains(item.id) })?.key
                else { continue }
                flights[flight]?.requeued.append(item)
                continue
            }
            // Behind everything accepted before it, which is nearly always everything.
            let isLast = order.insert(item.id) { (tracked[$0]?.item.sequence ?? 0) <= item.sequence }
            tracked[item.id] = Tracked(item: item)
            if !isLast { scan = nil }
        }
    }

    mutating func rewrite(_ item: QueueItem) {
        tracked[item.id]?.item = item
        // Another process may have sent it too: what this flight's answer means depends on that.
        if case .sending(let flight) = tracked[item.id]?.state { flights[flight]?.before[item.id] = item.maybeSent }
    }

    /// The items that travel with the one the scan has reached: those right behind it of the same kind, until a bound or
    /// a write that is not free.
    func batch(startingAt scan: QueueScan, _ first: Tracked) -> [String] {
        guard let signature = first.item.signature, !isSentAlone(first.item) else { return [first.item.id] }
        var ids = [first.item.id]
        var bytes = first.item.bytes
        var limit = min(limits.batchRows, first.batchLimit, first.item.mostShared)
        // Rows that cannot be named are in nobody's way within one statement: the server refuses one that meets a row twice.
        let table = QueueItem.Token.wholeTable(first.item.table)
        var tokens = first.item.tokens.subtracting([table])
        for position in (scan.position + 1)..<max(scan.position + 1, order.end) {
            guard let id = order[position] else { continue }
            guard let next = tracked[id], next.state == .waiting, !next.isStrict, next.item.signature == signature,
                next.item.table == first.item.table,
                !next.item.tokens.contains(where: { $0 != table && QueueScan.isInTheWay(tokens, of: $0) }),
                next.item.maybeSent == first.item.maybeSent,
                !scan.isInTheWay(of: next.item.tokens)
            else { break }
            limit = min(limit, next.batchLimit)
            bytes += next.item.bytes
            guard ids.count + 1 <= limit, bytes <= limits.batchBytes else { break }
            ids.append(id)
            tokens.formUnion(next.item.tokens.subtracting([table]))
        }
        return ids
    }

    /// Whether its outcome could not be told from those of others: without returned rows nothing says which of several
    /// updates or deletes touched a row.
    func isSentAlone(_ item: QueueItem) -> Bool { item.isKeyed && writeOnlyTables.contains(item.table) }

    func maybeSent(_ ids: [String]) -> [String: Bool] {
        Dictionary(uniqueKeysWithValues: ids.map { ($0, tracked[$0]?.item.maybeSent ?? false) })
    }
}
