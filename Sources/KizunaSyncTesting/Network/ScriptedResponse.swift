public import KizunaCore

/// What a scripted network does with one request.
public enum ScriptedResponse: Sendable {
    /// The caller gets this answer.
    case respond(WireResponse)
    /// The caller gets this failure.
    case fail(WireFailure)
    /// The same as the inner answer, this much virtual time later.
    indirect case after(Duration, ScriptedResponse)
    /// The test gives the answer, through `ScriptedTransport.nextHeld()`.
    case hold

    /// An answer of a status and a JSON text.
    public static func json(_ text: String, status: Int = 200, headers: [String: String] = [:]) -> ScriptedResponse {
        let contentType = ["content-type": "application/json; charset=utf-8"]
        return .respond(
            WireResponse(
                status: status, headers: contentType.merging(headers) { $1 }, body: Array(text.utf8)))
    }
}

/// What goes wrong between a client and a server that is itself well.
public enum WireFault: Sendable, Hashable, CaseIterable {
    /// The connection breaks before the server has seen the request; the client cannot know.
    case dropBeforeHandling
    /// The server handles the request, and its answer is lost.
    case dropResponse
    /// No connection comes about at all.
    case refuseConnection
}
