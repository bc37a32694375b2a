internal import KizunaCore

// Start and stop of the loop, and the gate of the network path.

extension SchedulerMachine {
    mutating func start() {
        guard !isRunning else { return }
        isRunning = true
        hasReportedRejection = false
        arm()
        if settings.monitorsPath { armPath() }
        if settings.hasForegroundSource {
            let source = nextID()
            foregroundSource = source
            effects.append(.startForeground(source: source))
        }
        if settings.hasRealtime {
            let source = nextID()
            realtimeSource = source
            effects.append(.subscribeRealtime(source: source))
        }
        subscribe()
        wake(.start)
    }

    mutating func stop() {
        guard isRunning else { return }
        isRunning = false
        isSignedOut = false
        disarm()
        cancel(\.holdTimer)
        cancel(\.windowTimer)
        disarmPath()
        if foregroundSource != nil { effects.append(.stopForeground) }
        foregroundSource = nil
        if realtimeSource != nil { effects.append(.cancelRealtime) }
        realtimeSource = nil
        unsubscribe()
        isGateOpen = true
    }

    mutating func setMonitorsPath(_ isOn: Bool) {
        settings.monitorsPath = isOn
        if isOn {
            if isRunning, pathSource == nil { armPath() }
        } else {
            disarmPath()
            setGate(true)
        }
    }

    /// The gate is closed until the first report.
    mutating func armPath() {
        guard settings.hasPathMonitor else { return }
        let source = nextID()
        pathSource = source
        pathWakes = []
        isGateOpen = false
        effects.append(.startPath(source: source))
    }

    mutating func disarmPath() {
        if pathSource != nil { effects.append(.cancelPath) }
        pathSource = nil
    }

    mutating func setGate(_ isSatisfied: Bool) {
        let hasOpened = isSatisfied && !isGateOpen
        isGateOpen = isSatisfied
        if hasOpened { wake(.path) }
    }
}
