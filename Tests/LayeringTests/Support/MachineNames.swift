/// The names a machine's source declares and the names its header and `docs/machines.md` list.
struct MachineNames {
    /// The type, such as `QueueMachine`.
    let machine: String
    /// The cases of the enum that holds its states, in the order of the source; empty where no enum does.
    let states: [String]
    let events: [String]
    let effects: [String]
    /// The names the header lists under "States", "Phases" or "Stages".
    let headerStates: [String]

    private static let stateEnums = ["State", "Phase", "Stage", "MutationState", "ItemState"]
    private static let enumStart = Pattern(#"^\s*(?:(?:package|private|public|internal)\s+)?enum\s+(\w+)"#)
    private static let caseLine = Pattern(#"^\s*case\s+(\w+)"#)
    private static let headerList = Pattern(#"^///\s*(States|Phases|Stages|Steps)\b"#)
    private static let headerName = Pattern(#"^///\s+- `(\w+)"#)

    /// Reads the file of a machine and the files that extend it (`QueueMachine+Events.swift`).
    init(machine: String, files: [SourceFile]) {
        self.machine = machine
        var cases: [String: [String]] = [:]
        for file in files { cases.merge(Self.enums(in: file.code)) { first, _ in first } }
        let header = files.first { $0.name == machine + ".swift" }.map { Self.header($0.lines) } ?? []
        headerStates = header
        let candidates = Self.stateEnums.compactMap { cases[$0] }
        states = candidates.first { !Set($0).isDisjoint(with: header) } ?? candidates.first ?? []
        events = cases["Event"] ?? []
        effects = cases["Effect"] ?? []
    }

    /// The cases of each enum, without those of enums nested in it.
    private static func enums(in code: [String]) -> [String: [String]] {
        var found: [String: [String]] = [:]
        var open: [(name: String, depth: Int)] = []
        var depth = 0
        for line in code {
            if let name = enumStart.capture(in: line) {
                found[name] = found[name] ?? []
                open.append((name, depth))
            } else if let current = open.last, depth == current.depth + 1, let name = caseLine.capture(in: line) {
                found[current.name, default: []].append(contentsOf: [name] + others(on: line))
            }
            depth += line.count { $0 == "{" } - line.count { $0 == "}" }
            while let last = open.last, depth <= last.depth { open.removeLast() }
        }
        return found
    }

    /// `case a, b`: the names behind the first one.
    private static func others(on line: String) -> [String] {
        guard !line.contains("("), !line.contains(":") else { return [] }
        return line.split(separator: ",").dropFirst().map { $0.filter { !$0.isWhitespace } }
    }

    private static func header(_ lines: [String]) -> [String] {
        guard let start = lines.firstIndex(where: { headerList.matches($0) }) else { return [] }
        var names: [String] = []
        for line in lines[(start + 1)...] {
            guard line.hasPrefix("///"), line != "///" else { break }
            if let name = headerName.capture(in: line) { names.append(name) }
        }
        return names
    }

    /// The differences between the source, its header and the page.
    func differences(from page: [String]) -> [String] {
        var found: [String] = []
        if !states.isEmpty, Set(headerStates) != Set(states) {
            found.append("\(machine): the header lists the states \(headerStates), the source has \(states)")
        }
        for (kind, names) in [("States", states), ("Events", events), ("Effects", effects)] where !names.isEmpty {
            let prefix = "\(kind) of `\(machine)`:"
            guard let line = page.first(where: { $0.hasPrefix(prefix) }) else {
                found.append("docs/machines.md has no line: \(Self.line(prefix, names))")
                continue
            }
            if line != Self.line(prefix, names) {
                found.append("docs/machines.md must say: \(Self.line(prefix, names))")
            }
        }
        return found
    }

    private static func line(_ prefix: String, _ names: [String]) -> String {
        prefix + " " + names.map { "`\($0)`" }.joined(separator: ", ") + "."
    }
}
