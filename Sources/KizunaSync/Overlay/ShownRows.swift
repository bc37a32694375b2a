/// The rows of a list in order, in chunks, so that a changed copy shares what did not change: copying and comparing
/// cost as much as differs, not as much as there is.
///
/// A row keeps its position for life; a removed one leaves a hole. Iteration skips the holes.
package struct ShownRows: Sendable, Equatable, Sequence, ExpressibleByArrayLiteral {
    package typealias Element = OverlayFold.Row

    /// Small enough to copy at each change, large enough that a long list has few.
    static let chunkSize = 128

    /// A stretch of the list.
    struct Chunk: Sendable {
        fileprivate(set) var rows: [OverlayFold.Row?] = []
        /// Rows that are there.
        fileprivate(set) var count = 0
    }

    /// All but the last are full.
    private(set) var chunks: [Chunk] = []
    /// Positions handed out so far, holes included.
    private(set) var end = 0
    /// Rows that are there.
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

    /// These rows and then others. The positions of the second part are lost; the result is for showing.
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

    /// Lists are equal when they show the same rows in the same order, wherever their holes are.
    package static func == (lhs: ShownRows, rhs: ShownRows) -> Bool {
        guard lhs.count == rhs.count else { return false }
        let (front, back) = lhs.chunksShared(with: rhs)
        return lhs.rows(from: front, butLast: back) == rhs.rows(from: front, butLast: back)
    }

    /// How many chunks at the beginning and at the end are the very same in another list.
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

    /// Whether two chunks are one piece of memory.
    private static func areSame(_ one: Chunk, _ other: Chunk) -> Bool {
        one.rows.withUnsafeBufferPointer { one in
            other.rows.withUnsafeBufferPointer { one.baseAddress == $0.baseAddress && one.count == $0.count }
        }
    }

    /// The rows of all chunks but so many at the beginning and at the end.
    func rows(from first: Int, butLast last: Int) -> [OverlayFold.Row] {
        chunks[first..<(chunks.count - last)].flatMap { $0.rows.compactMap { $0 } }
    }

    /// How many rows are in so many chunks at the beginning.
    func count(ofFirst first: Int) -> Int { chunks[..<first].reduce(0) { $0 + $1.count } }
}
