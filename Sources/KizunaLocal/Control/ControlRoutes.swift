internal import KizunaCore

/// The control over HTTP, for clients in other languages and for the demo.
///
/// | request | effect |
/// |---|---|
/// | `POST /control/faults` `{"action","method"?,"path"?,"count"?, …}` | adds a fault, answers `{"id"}` |
/// | `GET /control/faults`, `DELETE /control/faults[/id]` | lists, removes |
/// | `POST /control/release[/id]` | lets go on what is held |
/// | `GET`, `PUT /control/network` `{"on":false}` | reads, sets the network switch |
/// | `GET`, `DELETE /control/requests` | reads, empties the log |
enum ControlRoutes {
    static func serves(_ target: String) -> Bool { target == "/control" || target.hasPrefix("/control/") }

    static func answer(_ request: HTTPRequest, _ control: LocalControl) -> HTTPAnswer {
        // A web page that the developer happens to visit must not switch the backend's faults.
        guard request.header("Origin") == nil else { return .message(403, "not for web pages") }
        let steps = request.path.split(separator: "/").dropFirst().map(String.init)
        let id = steps.count == 2 ? Int(steps[1]) : nil
        guard steps.count == 1 || (steps.count == 2 && id != nil) else { return .message(404, "no such control") }
        switch (request.method, steps[0]) {
        case ("POST", "faults"): return add(request.body, control)
        case ("GET", "faults"): return .json(200, RawJSON(elements: control.faults.map(describe)))
        case ("DELETE", "faults"): control.removeFault(id)
        case ("POST", "release"): control.release(id)
        case ("GET", "network"): return .json(200, .object(("on", .boolean(control.isNetworkOn))))
        case ("PUT", "network"):
            guard let body = try? RawJSON(validating: request.body), let on = body.member("on")?.booleanValue else {
                return .message(400, #"the body must be {"on": true} or {"on": false}"#)
            }
            control.isNetworkOn = on
        case ("GET", "requests"): return .json(200, RawJSON(elements: control.requests.map(describe)))
        case ("DELETE", "requests"): control.clearRequests()
        default: return .message(404, "no such control")
        }
        return HTTPAnswer(status: 204)
    }

    private static func add(_ body: [UInt8], _ control: LocalControl) -> HTTPAnswer {
        guard let json = try? RawJSON(validating: body), let action = action(json) else {
            return .message(
                400,
                "the body must be an object with the member action: cut, drop-request, drop-answer, truncate-answer, "
                    + "delay (milliseconds), answer (status, body, headers), hold or hold-answer")
        }
        guard let count = count(json), hasValidTarget(json) else {
            return .message(400, "count must be 1 or more, standing true or false, method and path texts")
        }
        let rule = FaultRule(
            action, method: json.member("method")?.stringValue, path: json.member("path")?.stringValue ?? "/",
            count: count)
        return .json(201, .object(("id", .number(control.add(rule)))))
    }

    /// How often a rule applies: nil inside for a standing rule, nil outside for a value that is not valid.
    private static func count(_ json: RawJSON) -> Int?? {
        if let standing = json.member("standing") {
            guard let isStanding = standing.booleanValue else { return nil }
            if isStanding { return .some(nil) }
        }
        guard let count = json.member("count") else { return .some(1) }
        guard let value = count.integerValue, value >= 1 else { return nil }
        return .some(value)
    }

    private static func hasValidTarget(_ json: RawJSON) -> Bool {
        ["method", "path"].allSatisfy { name in
            guard let value = json.member(name) else { return true }
            return value.isNull || value.stringValue != nil
        }
    }

    private static func truncation(_ json: RawJSON) -> FaultAction? {
        guard let bytes = json.member("bytes"), !bytes.isNull else { return .truncateAnswer() }
        guard let value = bytes.integerValue, value >= 0 else { return nil }
        return .truncateAnswer(bytes: value)
    }

    private static func delay(_ json: RawJSON) -> FaultAction? {
        guard let value = json.member("milliseconds")?.integerValue, 0...Int(Int32.max) ~= value else { return nil }
        return .delay(.milliseconds(value))
    }

    /// A header that would end its line early could forge the rest of the response.
    private static func isValid(_ header: RawJSON.Member) -> Bool {
        guard !header.name.isEmpty, header.name.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: ":") })
        else { return false }
        return header.value.scalarText?.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } ?? false
    }

    private static func action(_ json: RawJSON) -> FaultAction? {
        switch json.member("action")?.stringValue {
        case "cut": .cutConnection
        case "drop-request": .dropRequest
        case "drop-answer": .dropAnswer
        case "truncate-answer": truncation(json)
        case "hold": .hold
        case "hold-answer": .holdAnswer
        case "delay": delay(json)
        case "answer": answer(json).map { .answer($0) }
        default: nil
        }
    }

    private static func answer(_ json: RawJSON) -> HTTPAnswer? {
        guard let status = json.member("status")?.integerValue, 200...599 ~= status else { return nil }
        let headers = (try? json.member("headers")?.objectMembers()) ?? []
        guard headers.allSatisfy(isValid) else { return nil }
        let body = json.member("body")
        var answer = HTTPAnswer(
            status: status, headers: headers.map { HTTPHeader($0.name, $0.value.scalarText ?? "") },
            body: body.map { $0.stringValue.map { Array($0.utf8) } ?? $0.bytes } ?? [])
        if body?.kind == .object || body?.kind == .array, answer.headers.first(named: "Content-Type") == nil {
            answer.headers.append(HTTPHeader("Content-Type", "application/json; charset=utf-8"))
        }
        return answer
    }

    private static func describe(_ fault: (id: Int, rule: FaultRule, remaining: Int?)) -> RawJSON {
        .object(
            ("id", .number(fault.id)), ("method", .string(orNull: fault.rule.method)),
            ("path", .string(fault.rule.pathPrefix)), ("remaining", fault.remaining.map(RawJSON.number) ?? .null))
    }

    private static func describe(_ request: LoggedRequest) -> RawJSON {
        let (word, status): (String, Int?) =
            switch request.outcome {
            case .waiting: ("waiting", nil)
            case .held: ("held", nil)
            case .answered(let status): ("answered", status)
            case .cut: ("cut", nil)
            case .answerLost(let status): ("answer-lost", status)
            }
        return .object(
            ("number", .number(request.number)), ("method", .string(request.method)),
            ("target", .string(request.target)), ("outcome", .string(word)),
            ("status", status.map(RawJSON.number) ?? .null))
    }
}
