import KizunaCore
import KizunaStore
import KizunaSync

/// A queue machine whose effects are returned as short texts.
struct QueueRig {
    var machine: QueueMachine
    private(set) var lastTimer = 0
    private(set) var lastFlight = 0
    private(set) var delays: [Duration] = []

    init(
        isEnabled: Bool = true, isPathUp: Bool = true, isSessionReady: Bool = true,
        limits: QueueMachine.Limits = .init()
    ) {
        machine = QueueMachine(
            isPathUp: isPathUp, isEnabled: isEnabled, isSessionReady: isSessionReady, limits: limits)
    }

    /// Handles an event. Returns its effects as text, without publications.
    @discardableResult
    mutating func handle(_ event: QueueMachine.Event) -> String {
        machine.handle(event).compactMap { note($0) }.joined(separator: ", ")
    }

    private mutating func note(_ effect: QueueMachine.Effect) -> String? {
        switch effect {
        case .send(let flight, let ids, _):
            lastFlight = flight
            return "send \(ids.joined(separator: "+"))"
        case .resend(let flight, let ids):
            lastFlight = flight
            return "resend \(ids.joined(separator: "+"))"
        case .lookUp(_, let ids, _): return "look up \(ids.joined(separator: "+"))"
        case .commitDelivered(let flight, let ids):
            lastFlight = flight
            return "deliver \(ids.joined(separator: "+"))"
        case .commitRejected(let flight, let id, let dependants, _):
            lastFlight = flight
            return (["refuse \(id)"] + dependants).joined(separator: "<")
        case .recordFailure(let ids, let maybeSent, _):
            return "note " + ids.map { "\($0)\(maybeSent[$0] == true ? "?" : "")" }.joined(separator: "+")
        case .startTimer(let timer, let delay):
            lastTimer = timer
            delays.append(delay)
            return "timer"
        case .cancelTimer: return "cancel"
        case .requestSession: return "ask session"
        case .publish: return nil
        }
    }
}

let notes = TableID(name: "notes")

/// Makes an item that inserts, updates or deletes the row of a key.
func queueItem(
    _ id: String, _ key: String? = nil, table: TableID = notes, makes: Bool = true, batch: String? = nil,
    group: String? = nil, parents: [QueueItem.Token] = [], isGenerated: Bool = false, isRepeatable: Bool = true,
    isKeyed: Bool = false,
    bytes: Int = 10, maybeSent: Bool = false, sequence: Int64 = 0
) -> QueueItem {
    let rowKey = key.map { RowKey(text: $0) }
    var tokens = Set(parents)
    if let rowKey { tokens.insert(.row(table, rowKey)) }
    if let group { tokens.insert(.group(group)) }
    let keys = Set([rowKey].compactMap { $0 })
    return QueueItem(
        id: id, sequence: sequence, table: table, tokens: tokens, signature: batch, bytes: bytes,
        creates: makes ? keys : [], needs: makes ? [] : keys, group: group, hasGeneratedKey: isGenerated,
        isRepeatable: isRepeatable, isKeyed: isKeyed, maybeSent: maybeSent)
}

func serverFault(_ status: Int, _ code: String? = nil) -> ServerFailure { ServerFailure(status: status, code: code) }
