internal import Foundation
internal import KizunaCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension WireRequest {
    /// The request as `URLSession` takes it.
    func urlRequest() throws(WireFailure) -> URLRequest {
        var request = URLRequest(url: try checkedURL())
        request.httpMethod = method
        for header in headers { request.addValue(header.value, forHTTPHeaderField: header.name) }
        if let body { request.httpBody = Data(body) }
        // The exchange keeps its own time, for the whole answer; the platform's counts silence only.
        request.timeoutInterval = timeout.seconds + 60
        return request
    }
}
