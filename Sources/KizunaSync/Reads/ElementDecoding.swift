internal import KizunaCore

/// A type whose values are lists of rows.
protocol RowsValue {
    static func makeDecoding(_ shared: DecodedRowsByType?) -> any RowsDecoding
}

extension Array: RowsValue where Element: Decodable {
    static func makeDecoding(_ shared: DecodedRowsByType?) -> any RowsDecoding {
        // Two readers must not find themselves holding one object.
        ElementDecoding<Element>(shared: Element.self is AnyClass ? nil : shared?.rows(of: Element.self))
    }
}

/// Keeps decoded rows from one snapshot to the next.
protocol RowsDecoding {
    mutating func decode(
        _ shown: inout ShownRows, with decoder: RowDecoder, table: String, log: (LogLine) -> Void
    ) throws(SyncError) -> Any?
}

struct NoRows: RowsDecoding {
    func decode(
        _ shown: inout ShownRows, with decoder: RowDecoder, table: String, log: (LogLine) -> Void
    ) throws(SyncError) -> Any? { nil }
}

private struct ElementDecoding<Element: Decodable>: RowsDecoding {
    private var shared: DecodedRows<Element>?
    private var before = ShownRows()
    /// The rows of `before`, decoded, without those that are left out.
    private var values: [Element] = []
    /// The list that was given out before `values`, and what has changed from it to `values`. By the next change its
    /// reader has most likely let go of it, so that it can be changed in place where `values` would have to be copied.
    private var spare: [Element] = []
    private var lag: [Patch] = []

    private struct Patch {
        let range: Range<Int>
        let values: [Element]
    }
    /// Which rows of `before`, counted from its first, are left out.
    private var omitted: Set<Int> = []

    init(shared: DecodedRows<Element>?) { self.shared = shared }

    mutating func decode(
        _ shown: inout ShownRows, with decoder: RowDecoder, table: String, log: (LogLine) -> Void
    ) throws(SyncError) -> Any? {
        // Only between the first and the last chunk that changed is there anything to look at, and there only between the
        // rows that stayed at both ends.
        let chunks = omitted.isEmpty ? shown.chunksShared(with: before) : (front: 0, back: 0)
        var previous = before.rows(from: chunks.front, butLast: chunks.back)[...]
        var rows = shown.rows(from: chunks.front, butLast: chunks.back)[...]
        var start = before.count(ofFirst: chunks.front)
        if omitted.isEmpty {
            let kept = zip(previous, rows).prefix { $0.json == $1.json }.count
            previous = previous.dropFirst(kept)
            rows = rows.dropFirst(kept)
            start += kept
            let end = zip(previous.reversed(), rows.reversed()).prefix { $0.json == $1.json }.count
            previous = previous.dropLast(end)
            rows = rows.dropLast(end)
        }
        try renew(from: start, Array(previous), Array(rows), decoder, table, log)
        before = shown
        if !omitted.isEmpty {
            shown = ShownRows(shown.enumerated().filter { !omitted.contains($0.offset) }.map(\.element))
        }
        return values
    }

    /// Puts the values of `rows` in the place of those of `previous`.
    private mutating func renew(
        from start: Int, _ previous: [OverlayFold.Row], _ rows: [OverlayFold.Row], _ decoder: RowDecoder,
        _ table: String,
        _ log: (LogLine) -> Void
    ) throws(SyncError) {
        let known = decoded(from: start, previous.count)
        var next: [Element?] = []
        next.reserveCapacity(rows.count)
        var fresh: [Int] = []
        var isInPlace = previous.count == rows.count && omitted.isEmpty
        var shift = 0
        for (index, row) in rows.enumerated() {
            // Most rows stand where they stood, or a few places off behind an added or removed one.
            if let at = place(of: row.json, in: previous, near: index + shift) {
                shift = at - index
                isInPlace = isInPlace && at == index
                next.append(known[at])
            } else {
                fresh.append(index)
                next.append(nil)
            }
        }
        try fill(&next, at: fresh, from: rows, decoder, table, log)
        if isInPlace, fresh.allSatisfy({ next[$0] != nil }) {
            put(
                fresh.compactMap { index in
                    next[index].map { Patch(range: (start + index)..<(start + index + 1), values: [$0]) }
                })
        } else {
            let stale = start..<(start + previous.count - omitted.count)
            omitted = Set(next.indices.filter { next[$0] == nil }.map { start + $0 })
            put([Patch(range: stale, values: next.compactMap { $0 })])
        }
    }

    private mutating func put(_ patches: [Patch]) {
        guard !patches.isEmpty else { return }
        let size = patches.reduce(0) { $0 + $1.values.count + $1.range.count }
        if size <= max(4 * ShownRows.chunkSize, values.count / 2) {
            for patch in lag + patches { spare.replaceSubrange(patch.range, with: patch.values) }
            lag = patches
            swap(&spare, &values)
        } else {
            for patch in patches { values.replaceSubrange(patch.range, with: patch.values) }
            spare = values
            lag = []
        }
    }

    /// The values of so many rows of `before`, nil for those left out.
    private func decoded(from start: Int, _ count: Int) -> [Element?] {
        guard !omitted.isEmpty else { return values[start..<(start + count)].map { $0 } }
        var rest = values[...]
        return (0..<count).map { omitted.contains($0) ? nil : rest.popFirst() }
    }

    private func place(of json: RawJSON, in previous: [OverlayFold.Row], near: Int) -> Int? {
        for candidate in [near, near + 1, near - 1] where previous.indices.contains(candidate) {
            if previous[candidate].json == json { return candidate }
        }
        return nil
    }

    /// Decodes the rows at these places that no other reader has decoded, many at a time: most of what a row costs the
    /// decoder is its beginning. Where one does not decode, its group is taken row by row.
    private mutating func fill(
        _ next: inout [Element?], at places: [Int], from rows: [OverlayFold.Row], _ decoder: RowDecoder,
        _ table: String,
        _ log: (LogLine) -> Void
    ) throws(SyncError) {
        // Alone, or with a long list to begin with, keeping rows for others is work for nothing.
        let isShared = !isKnownUniquelyReferenced(&shared) && places.count <= DecodedRows<Element>.limit
        let shared = isShared ? shared : nil
        for start in stride(from: 0, to: places.count, by: ShownRows.chunkSize) {
            var group = Array(places[start..<Swift.min(start + ShownRows.chunkSize, places.count)])
            if let shared {
                let found = shared.elements(of: group.map { rows[$0].json })
                for (place, element) in zip(group, found) { next[place] = element }
                group = zip(group, found).filter { $1 == nil }.map(\.0)
            }
            if group.count > 1, let elements = decoder.elements(Element.self, of: group.map { rows[$0].json }) {
                for (place, element) in zip(group, elements) { next[place] = element }
            } else {
                for place in group { next[place] = try element(rows[place], decoder, table, log) }
            }
            // Rows without a key may be told apart by nothing but what their decoding makes of them.
            shared?.keep(
                group.compactMap { place in
                    guard rows[place].key != nil, let element = next[place] else { return nil }
                    return (rows[place].json, element)
                })
        }
    }

    private func element(
        _ row: OverlayFold.Row, _ decoder: RowDecoder, _ table: String, _ log: (LogLine) -> Void
    ) throws(SyncError) -> Element? {
        do {
            return try decoder.decode(Element.self, from: row.json, table: table)
        } catch {
            // A queued row may lack what the server will add; it shows once the server has it.
            guard row.isPending else { throw error }
            log(LogLine(.warning, "A queued row does not decode and is left out", [.table: table]))
            return nil
        }
    }
}
