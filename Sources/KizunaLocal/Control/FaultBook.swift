/// The faults in force and what is held back because of them. A value; its owner keeps it under a lock.
struct FaultBook {
    struct Entry {
        let id: Int
        let rule: FaultRule
        var remaining: Int?
    }

    private(set) var entries: [Entry] = []
    private var held: [Int: [@Sendable () -> Void]] = [:]
    private var nextID = 1
    var isNetworkOff = false

    mutating func add(_ rule: FaultRule) -> Int {
        defer { nextID += 1 }
        if rule.count != 0 { entries.append(Entry(id: nextID, rule: rule, remaining: rule.count)) }
        return nextID
    }

    /// Takes a rule away (nil: all of them) and gives what it held.
    mutating func remove(_ id: Int?) -> [@Sendable () -> Void] {
        entries.removeAll { id == nil || $0.id == id }
        return release(id)
    }

    /// Gives what a rule (nil: any rule) held; the rule stays in force.
    mutating func release(_ id: Int?) -> [@Sendable () -> Void] {
        guard let id else {
            defer { held = [:] }
            return held.sorted { $0.key < $1.key }.flatMap(\.value)
        }
        return held.removeValue(forKey: id) ?? []
    }

    mutating func hold(for id: Int, _ resume: @escaping @Sendable () -> Void) { held[id, default: []].append(resume) }

    var heldCount: Int { held.values.reduce(0) { $0 + $1.count } }

    /// The first rule for this request, and one use of it taken.
    mutating func take(method: String, target: String, where isWanted: (FaultAction) -> Bool) -> (Int, FaultAction)? {
        guard let at = entries.firstIndex(where: { $0.rule.matches(method: method, target: target) }) else {
            return nil
        }
        let entry = entries[at]
        guard isWanted(entry.rule.action) else { return nil }
        if let remaining = entry.remaining {
            entries[at].remaining = remaining - 1
            if remaining == 1 { entries.remove(at: at) }
        }
        return (entry.id, entry.rule.action)
    }
}
