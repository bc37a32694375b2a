import KizunaCore
import KizunaSync
import Testing

/// What the gate of each strategy says of each event.
@Suite struct EmissionGateTests {
    enum Happening: String, CaseIterable {
        case answered, failedByConnectivity, failedBySwitch, failedByServer, failedByResponse, pausedByMonitor
        case pausedBySwitch, sessionWaited

        func rule(_ gate: inout EmissionGate, hasRows: Bool) -> EmissionGate.Decision? {
            switch self {
            case .answered:
                gate.answered()
                return nil
            case .failedByConnectivity: return gate.failed(.offline("x"), hasRows: hasRows)
            case .failedBySwitch: return gate.failed(SyncError(.networkDisabled, "x"), hasRows: hasRows)
            case .failedByServer: return gate.failed(SyncError(.server, "x"), hasRows: hasRows)
            case .failedByResponse: return gate.failed(SyncError(.malformedResponse, "x"), hasRows: hasRows)
            case .pausedByMonitor: return gate.paused(isDisabled: false, hasRows: hasRows)
            case .pausedBySwitch: return gate.paused(isDisabled: true, hasRows: hasRows)
            case .sessionWaited:
                gate.sessionWaited(hasRows: hasRows)
                return nil
            }
        }
    }

    private static func word(_ decision: EmissionGate.Decision?, _ gate: EmissionGate) -> String {
        switch decision {
        case .fail(let error): "fails \(error.code.rawValue)"
        case .hold, .open, nil: gate.isOpen ? "open" : "silent"
        }
    }

    /// Of a read that asks the server first, before it has shown anything: with rows cached, and without.
    private static let cells: [Happening: (warm: String, cold: String)] = [
        .answered: ("open", "open"), .failedByConnectivity: ("open", "fails connectivity"),
        .failedBySwitch: ("open", "fails network_disabled"), .failedByServer: ("fails server", "fails server"),
        .failedByResponse: ("fails malformed_answer", "fails malformed_answer"),
        .pausedByMonitor: ("open", "fails connectivity"), .pausedBySwitch: ("open", "fails network_disabled"),
        .sessionWaited: ("open", "silent"),
    ]

    @Test(arguments: Happening.allCases)
    func aReadThatAsksFirstOpensOrFails(at happening: Happening) {
        for hasRows in [true, false] {
            var gate = EmissionGate(.networkFirstThenCache)
            #expect(!gate.isOpen)
            let decision = happening.rule(&gate, hasRows: hasRows)
            let cell = Self.cells[happening]
            #expect(Self.word(decision, gate) == (hasRows ? cell?.warm : cell?.cold))
        }
    }

    @Test(arguments: [SequenceReadStrategy.cacheFirstThenNetwork, .cacheOnly])
    func theOtherStrategiesAreOpenFromTheStartAndNothingFailsThem(strategy: SequenceReadStrategy) {
        for happening in Happening.allCases {
            var gate = EmissionGate(strategy)
            #expect(gate.isOpen)
            let decision = happening.rule(&gate, hasRows: false)
            #expect(Self.word(decision, gate) == "open")
        }
    }

    @Test func onceOpenItStaysOpenWhateverFails() {
        for happening in Happening.allCases {
            var gate = EmissionGate(.networkFirstThenCache)
            gate.answered()
            let decision = happening.rule(&gate, hasRows: false)
            #expect(Self.word(decision, gate) == "open")
        }
    }
}
