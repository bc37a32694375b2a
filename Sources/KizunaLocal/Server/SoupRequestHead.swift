internal import CSoup

/// Copies what a libsoup message says about its request.
struct SoupRequestHead {
    let method: String
    let path: String
    let query: String?
    let headers: [HTTPHeader]

    init(_ message: OpaquePointer) {
        method = soup_server_message_get_method(message).map { String(cString: $0) } ?? ""
        let uri = soup_server_message_get_uri(message)
        path = uri.flatMap { g_uri_get_path($0) }.map { String(cString: $0) } ?? "/"
        query = uri.flatMap { g_uri_get_query($0) }.map { String(cString: $0) }
        var headers: [HTTPHeader] = []
        var iterator = SoupMessageHeadersIter()
        soup_message_headers_iter_init(&iterator, soup_server_message_get_request_headers(message))
        var name: UnsafePointer<CChar>?
        var value: UnsafePointer<CChar>?
        while soup_message_headers_iter_next(&iterator, &name, &value) != 0 {
            if let name, let value { headers.append(HTTPHeader(String(cString: name), String(cString: value))) }
        }
        self.headers = headers
    }

    var target: String { query.map { path + "?" + $0 } ?? path }

    static func body(of message: OpaquePointer) -> [UInt8] {
        // A body that was too large has not been kept.
        guard let body = soup_server_message_get_request_body(message), soup_message_body_get_accumulate(body) != 0,
            let bytes = soup_message_body_flatten(body)
        else { return [] }
        defer { g_bytes_unref(bytes) }
        var size: gsize = 0
        guard let start = g_bytes_get_data(bytes, &size) else { return [] }
        return Array(UnsafeRawBufferPointer(start: start, count: Int(size)))
    }
}
