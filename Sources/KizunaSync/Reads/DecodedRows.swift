package import KizunaCore
internal import Synchronization

/// The rows decoded lately as one type, for all live reads that decode it.
///
/// Lists overlap, and one write reaches many of them at once: what one has decoded, the others need not. Rows are told by
/// their bytes.
package final class DecodedRows<Element>: Sendable {
    /// A decoded row.
    ///
    /// Safe because a live read's value is `Sendable`, and with a list its elements are.
    private struct Kept: @unchecked Sendable {
        let element: Element
    }

    private struct State {
        var kept: [RowBytes: Kept] = [:]
        /// The keys of `kept`, the oldest one at `oldest`.
        var keys: [RowBytes] = []
        var oldest = 0
    }

    /// The most rows that are kept.
    static var limit: Int { 1_024 }

    private let state = Mutex(State())

    /// These rows as far as they were decoded lately.
    package func elements(of rows: [RawJSON]) -> [Element?] {
        let keys = rows.map(RowBytes.init)
        return state.withLock { state in keys.map { state.kept[$0] } }.map { $0?.element }
    }

    package func keep(_ elements: [(row: RawJSON, element: Element)]) {
        let entries = elements.map { (RowBytes($0.row), Kept(element: $0.element)) }
        state.withLock { state in
            for (key, kept) in entries where state.kept.updateValue(kept, forKey: key) == nil {
                if state.keys.count < Self.limit {
                    state.keys.append(key)
                } else {
                    state.kept[state.keys[state.oldest]] = nil
                    state.keys[state.oldest] = key
                    state.oldest = (state.oldest + 1) % Self.limit
                }
            }
        }
    }
}

extension DecodedRows: ForgettingRows {
    func forget() { state.withLock { $0 = State() } }
}

/// A row's bytes, compared and hashed in words.
private struct RowBytes: Hashable, Sendable {
    private let json: RawJSON
    private let words: UInt64

    init(_ json: RawJSON) {
        self.json = json
        words = json.bytes.withUnsafeBytes(ByteWords.hash)
    }

    static func == (lhs: RowBytes, rhs: RowBytes) -> Bool {
        lhs.words == rhs.words
            && lhs.json.bytes.withUnsafeBytes { one in rhs.json.bytes.withUnsafeBytes { ByteWords.areEqual(one, $0) } }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(words) }
}

private protocol ForgettingRows: AnyObject, Sendable {
    func forget()
}

/// A client's decoded rows by type, as long as a live read of the type goes on.
package final class DecodedRowsByType: Sendable {
    private struct Entry {
        weak var rows: (any ForgettingRows)?
    }

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    package init() {}

    package func rows<Element>(of type: Element.Type) -> DecodedRows<Element> {
        entries.withLock { entries in
            if let rows = entries[ObjectIdentifier(type)]?.rows as? DecodedRows<Element> { return rows }
            let rows = DecodedRows<Element>()
            entries = entries.filter { $0.value.rows != nil }
            entries[ObjectIdentifier(type)] = Entry(rows: rows)
            return rows
        }
    }

    /// Drops what was decoded for a former owner.
    package func forget() {
        for entry in entries.withLock({ Array($0.values) }) { entry.rows?.forget() }
    }
}
