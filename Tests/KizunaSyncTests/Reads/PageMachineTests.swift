import KizunaCore
import KizunaSync
import KizunaSyncTesting
import Testing

/// The pull of a range, against a list that may change between two pages.
@Suite struct PageMachineTests {
    private static func row(_ id: Int) -> (key: RowKey?, json: RawJSON) {
        (RowKey(components: ["\(id)"]), RawJSON(unchecked: Array(#"{"id":\#(id)}"#.utf8)))
    }

    /// Pulls until the machine ends; `list` gives the rows at each page, `cap` the most rows of that page.
    private func pull(
        offset: Int? = nil, limit: Int? = nil, counts: Bool = true, list: (Int) -> [Int], cap: (Int) -> Int
    ) -> (rows: [Int], isComplete: Bool, pages: Int) {
        var machine = PageMachine(offset: offset, limit: limit)
        var step = machine.first
        var taken: [Int] = []
        var pages = 0
        while case .ask(let offset, let limit) = step, pages < 10_000 {
            let all = list(pages)
            pages += 1
            let page = Array(all.dropFirst(offset).prefix(min(limit ?? .max, cap(pages))))
            let decision =
                counts && offset > all.count
                ? machine.rangeRejected()
                : machine.answered(page.map(Self.row), total: counts ? all.count : nil)
            if decision.voidsPreviousPages { taken = [] }
            taken += decision.taken.map { page[$0] }
            step = decision.next
        }
        guard case .finished(let isComplete) = step else { return (taken, false, pages) }
        return (taken, isComplete, pages)
    }

    @Test func onePageThatHoldsAllEndsAtOnceWhereTheServerCounts() {
        let (rows, isComplete, pages) = pull(list: { _ in Array(0..<10) }, cap: { _ in 1_000 })
        #expect(rows == Array(0..<10))
        #expect(isComplete)
        #expect(pages == 1)
    }

    @Test func withoutCountsEverythingIsPulledAndNothingIsProved() {
        let (rows, isComplete, pages) = pull(counts: false, list: { _ in Array(0..<10) }, cap: { _ in 4 })
        #expect(rows == Array(0..<10))
        #expect(!isComplete)
        #expect(pages == 4)
    }

    @Test func aLimitThatIsReachedIsAProofWithoutCounts() {
        let (rows, isComplete, pages) = pull(limit: 7, counts: false, list: { _ in Array(0..<10) }, cap: { _ in 4 })
        #expect(rows == Array(0..<7))
        #expect(isComplete)
        #expect(pages == 2)
    }

    @Test func anEmptyListIsWhole() {
        let (rows, isComplete, pages) = pull(list: { _ in [] }, cap: { _ in 4 })
        #expect(rows.isEmpty && isComplete && pages == 1)
    }

    @Test func oneRowAtATimeProvesNothing() {
        let (rows, isComplete, pages) = pull(list: { _ in Array(0..<10) }, cap: { $0 == 1 ? 3 : 1 })
        #expect(rows == [0, 1, 2])
        #expect(!isComplete)
        #expect(pages == 2)
    }

    /// The shared row and the count are as they were, and yet one row came twice and another never.
    @Test func rowsThatChangePlacesBeginThePullAnew() {
        let (rows, isComplete, pages) = pull(list: { $0 == 0 ? [0, 1, 2, 3] : [3, 1, 2, 0] }, cap: { _ in 2 })
        #expect(rows == [3, 1, 2, 0])
        #expect(isComplete)
        #expect(pages == 6)
    }

    /// A view may give a key twice: one row of it is kept, and nothing is proved.
    @Test func keysThatStandOnSeveralPagesProveNothing() {
        let (rows, isComplete, pages) = pull(list: { _ in [0, 1, 2, 1, 3, 4] }, cap: { _ in 3 })
        #expect(rows == [0, 1, 2, 3, 4])
        #expect(!isComplete)
        #expect(pages < 20)
    }

    /// P1 and P3 over random lists, caps and changes: what is called whole held every row that was there throughout.
    @Test(arguments: 1...300)
    func nothingThatStayedIsEverMissingFromAWholeList(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var ids = Set((0..<Int(random.next() % 60)).map { $0 * 3 })
        let always = ids
        var touched: Set<Int> = []
        let share = random.fraction() * 0.6
        let counts = random.chance(0.8)
        let offset = random.chance(0.3) ? Int(random.next() % 5) : nil
        var versions: [[Int]] = []
        let (rows, isComplete, _) = pull(offset: offset, counts: counts) { _ in
            if random.chance(share) {
                let id = Int(random.next() % 180)
                touched.insert(id)
                if !ids.insert(id).inserted { ids.remove(id) }
            }
            versions.append(ids.sorted())
            return ids.sorted()
        } cap: { _ in
            1 + Int(random.next() % 9)
        }
        #expect(Set(rows).count == rows.count, "seed \(seed)")
        guard isComplete, offset == nil else { return }
        // One change between two pages moves the rows behind it by one, which the shared row shows.
        let missing = always.subtracting(touched).subtracting(rows)
        #expect(missing.isEmpty, "seed \(seed): \(missing.sorted()) of \(versions)")
    }
}
