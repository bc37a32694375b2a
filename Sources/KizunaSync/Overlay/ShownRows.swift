/// The rows of a query in order, stored in chunks. A changed copy shares its unchanged chunks with the original, so the
/// cost of a copy and of a comparison depends on the difference and not on the number of rows.
///
/// A row keeps its position; a removed row leaves nil there. Iteration skips nil.
package struct ShownRows: Sendable, Equatable, Sequence, ExpressibleByArrayLiteral {
    package typealias Element = OverlayFold.Row

    /// A change copies one chunk; an array of 100,000 rows has about 800.
    static let chunkSize = 128

    /// Consecutive positions.
    struct Chunk: Sendable {
        fileprivate(set) var rows: [OverlayFold.Row?] = []
        /// The number of rows that are not nil.
        fileprivate(set) var count = 0
    }

    /// All chunks but the last have `chunkSize` positions.
    private(set) var chunks: [Chunk] = []
    /// The next position; removed rows keep theirs.
    private(set) var end = 0
    /// The number of rows that are not nil.
    package private(set) var count = 0

    package init() {}

    package init(_ rows: some Sequence<OverlayFold.Row>) {
        chunks.reserveCapacity(rows.underestimatedCount / Self.chunkSize + 1)
        for row in rows { append(row) }
    }

    package init(arrayLiteral rows: OverlayFold.Row...) { self.init(rows) }

    package var isEmpty: Bool { count == 0 }

    subscript(position: Int) -> OverlayFold.Row? {
        get { chunks[position / Self.chunkSize].rows[position % Self.chunkSize] }
        set {
            let (chunk, offset) = position.quotientAndRemainder(dividingBy: Self.chunkSize)
            let change = (newValue == nil ? 0 : 1) - (chunks[chunk].rows[offset] == nil ? 0 : 1)
            count += change
            chunks[chunk].count += change
            chunks[chunk].rows[offset] = newValue
        }
    }

    /// Adds a row at the end and returns its position.
    @discardableResult
    mutating func append(_ row: OverlayFold.Row) -> Int {
        if end % Self.chunkSize == 0 {
            var chunk = Chunk()
            chunk.rows.reserveCapacity(Self.chunkSize)
            chunks.append(chunk)
        }
        chunks[chunks.count - 1].rows.append(row)
        chunks[chunks.count - 1].count += 1
        end += 1
        count += 1
        return end - 1
    }

    /// Returns these rows and then others. The positions of the others change, so the result is only for reading.
    func followed(by others: ShownRows) -> ShownRows {
        guard !others.isEmpty else { return self }
        var both = self
        both.chunks += others.chunks
        both.count += others.count
        both.end += others.end
        return both
    }

    package struct Iterator: IteratorProtocol {
        fileprivate let chunks: [Chunk]
        private var chunk = 0
        private var offset = 0

        fileprivate init(_ chunks: [Chunk]) { self.chunks = chunks }

        package mutating func next() -> OverlayFold.Row? {
            while chunk < chunks.count {
                while offset < chunks[chunk].rows.count {
                    defer { offset += 1 }
                    if let row = chunks[chunk].rows[offset] { return row }
                }
                chunk += 1
                offset = 0
            }
            return nil
        }
    }

    package func makeIterator() -> Iterator { Iterator(chunks) }
    package var underestimatedCount: Int { count }

    // MARK: - Chunk by chunk

    package var chunkCount: Int { chunks.count }

    /// Compares the rows in order, whatever their positions are.
    package static func == (lhs: ShownRows, rhs: ShownRows) -> Bool {
        guard lhs.count == rhs.count else { return false }
        let (front, back) = lhs.chunksShared(with: rhs)
        return lhs.rows(from: front, butLast: back) == rhs.rows(from: front, butLast: back)
    }

    /// Returns how many chunks at the beginning and at the end have the same storage in both values.
    package func chunksShared(with other: ShownRows) -> (front: Int, back: Int) {
        let (mine, others) = (chunks, other.chunks)
        let most = Swift.min(mine.count, others.count)
        var front = 0
        while front < most, Self.areSame(mine[front], others[front]) { front += 1 }
        var back = 0
        while back < most - front, Self.areSame(mine[mine.count - 1 - back], others[others.count - 1 - back]) {
            back += 1
        }
        return (front, back)
    }

    /// Whether two chunks have the same storage.
    private static func areSame(_ one: Chunk, _ other: Chunk) -> Bool {
        one.rows.withUnsafeBufferPointer { one in
            other.rows.withUnsafeBufferPointer { one.baseAddress == $0.baseAddress && one.count == $0.count }
        }
    }

    /// Returns the rows without those of the first `first` and of the last `last` chunks.
    func rows(from first: Int, butLast last: Int) -> [OverlayFold.Row] {
        chunks[first..<(chunks.count - last)].flatMap { $0.rows.compactMap { $0 } }
    }

    /// Returns the number of rows in the first `first` chunks.
    func count(ofFirst first: Int) -> Int { chunks[..<first].reduce(0) { $0 + $1.count } }
}
