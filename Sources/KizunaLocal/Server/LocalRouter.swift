internal import KizunaCore

/// Sends each request to the part that serves it, with the faults of the control in between.
final class LocalRouter: RequestHandling {
    /// A part that answers requests, from any thread.
    protocol Part: Sendable {
        /// Calls `done` exactly once.
        func answer(_ request: HTTPRequest, _ done: @escaping @Sendable (HTTPAnswer) -> Void)
    }

    private let control: LocalControl
    private let parts: [(prefix: String, part: any Part)]
    private let loop: ServerLoop

    init(control: LocalControl, parts: [(prefix: String, part: any Part)], loop: ServerLoop) {
        self.control = control
        self.parts = parts
        self.loop = loop
    }

    func cutsConnection(method: String, target: String) -> Bool {
        !ControlRoutes.serves(target) && control.cutsConnection(method: method, target: target)
    }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        if let rejection = RequestCheck.rejection(of: request) {
            exchange.answer(rejection)
            return
        }
        if ControlRoutes.serves(request.path) {
            exchange.answer(ControlRoutes.answer(request, control))
            return
        }
        let number = control.begin(
            method: request.method, target: request.target, sender: request.header("X-Kizuna-Sender"), exchange)
        let proceed: @Sendable () -> Void = { [self] in
            dispatch(request) { [self] in finish(number, exchange, $0) }
        }
        guard let fault = control.fault(for: request, number: number, resume: proceed) else { return proceed() }
        switch fault.action {
        case .hold: return
        case .delay(let time): loop.run(after: time, proceed)
        case .cutConnection, .dropRequest:
            control.end(number, .cut)
            exchange.cut()
        case .answer(let answer): finish(number, exchange, answer)
        case .dropAnswer:
            dispatch(request) { [control] answer in
                control.end(number, .answerLost(answer.status))
                exchange.cut()
            }
        case .truncateAnswer(let bytes):
            dispatch(request) { [control] answer in
                control.end(number, .answerLost(answer.status))
                exchange.answer(answer, cutAfter: bytes ?? answer.body.count / 2)
            }
        case .holdAnswer:
            dispatch(request) { [self] answer in
                control.holdAnswer(for: fault.id, number: number) { [self] in finish(number, exchange, answer) }
            }
        }
    }

    private func finish(_ number: Int, _ exchange: HTTPExchange, _ answer: HTTPAnswer) {
        control.end(number, .answered(answer.status))
        exchange.answer(answer)
    }

    private func dispatch(_ request: HTTPRequest, _ done: @escaping @Sendable (HTTPAnswer) -> Void) {
        if request.isBodyTooLarge {
            done(.message(413, "The request body is too large"))
        } else if request.path == "/health" {
            done(.json(200, .object(("status", .string("ok")))))
        } else if let (_, part) = parts.first(where: {
            request.path == $0.prefix || request.path.hasPrefix($0.prefix + "/")
        }) {
            part.answer(request, done)
        } else {
            done(.message(404, "no Route matched with those values"))
        }
    }
}

extension HTTPAnswer {
    static func json(_ status: Int, _ body: RawJSON, headers: [HTTPHeader] = []) -> HTTPAnswer {
        HTTPAnswer(
            status: status, headers: [HTTPHeader("Content-Type", "application/json; charset=utf-8")] + headers,
            body: body.bytes)
    }

    /// What an API gateway says: a sentence and nothing else.
    static func message(_ status: Int, _ text: String) -> HTTPAnswer {
        .json(status, .object(("message", .string(text))))
    }
}
