internal import KizunaCore

// Events of the client: the subscription and the number of pending mutations.

extension SchedulerMachine {
    mutating func handleClient(_ event: Event) {
        switch event {
        case .subscribed(let source):
            if subscription == .pending(source) {
                subscription = .active(source)
            } else if subscription != .active(source) {
                effects.append(.unsubscribe(source: source))
            }
        case .subscriptionRejected(let source, let failure):
            guard subscription == .pending(source) else { return }
            subscription = .rejected
            if !hasReportedRejection { effects.append(.report(failure)) }
            hasReportedRejection = true
        case .queueDepthChanged(let source, let depth):
            guard isCurrent(source) else { return }
            depthChanged(to: depth)
        case .queueDepthRead(let source, let depth):
            if isCurrent(source), !hasDepth { queueDepth = depth }
        case .engineReplaced(let source):
            guard isCurrent(source) else { return }
            unsubscribe()
            subscribe()
        case .clientClosed(let source):
            guard isCurrent(source) else { return }
            unsubscribe()
            // The next run subscribes again if there is a client then.
            subscription = .rejected
        default: break
        }
    }

    /// Whether the subscription is the current one. Its first events may arrive before `subscribed`.
    func isCurrent(_ source: Int) -> Bool {
        subscription == .active(source) || subscription == .pending(source)
    }

    mutating func subscribe() {
        let source = nextID()
        subscription = .pending(source)
        hasDepth = false
        effects.append(.subscribe(source: source))
    }

    mutating func unsubscribe() {
        // A pending subscription is ended when it is made.
        if case .active(let source) = subscription { effects.append(.unsubscribe(source: source)) }
        subscription = .none
    }

    mutating func depthChanged(to depth: Int) {
        let hasRisen = depth > queueDepth
        queueDepth = depth
        hasDepth = true
        if depth > 0, windowTimer == nil, attempt == nil || hasRisen {
            // During a run, the depth falls because the run sends.
            windowTimer = startTimer(after: SchedulerWaits.writeWindow)
        }
    }
}
