public import KizunaCore

/// The reaction of a scripted network to one request.
public enum ScriptedResponse: Sendable {
    /// The caller receives this response.
    case respond(WireResponse)
    /// The caller receives this failure.
    case fail(WireFailure)
    /// The inner reaction after this virtual time.
    indirect case after(Duration, ScriptedResponse)
    /// The request is held until the test responds through `ScriptedTransport.nextHeld()`.
    case hold

    /// A response with a status and a JSON text.
    public static func json(_ text: String, status: Int = 200, headers: [String: String] = [:]) -> ScriptedResponse {
        let contentType = ["content-type": "application/json; charset=utf-8"]
        return .respond(
            WireResponse(
                status: status, headers: contentType.merging(headers) { $1 }, body: Array(text.utf8)))
    }
}

/// A fault between a client and a working server.
public enum WireFault: Sendable, Hashable, CaseIterable {
    /// The connection breaks before the server handles the request; the outcome is unknown to the client.
    case dropBeforeHandling
    /// The server handles the request, and its response is lost; the outcome is unknown to the client.
    case dropResponse
    /// No connection is made; the request is not sent.
    case refuseConnection
}
