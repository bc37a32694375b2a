internal import Foundation
internal import KizunaCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension WireRequest {
    /// The request for `URLSession`.
    func urlRequest() throws(WireFailure) -> URLRequest {
        var request = URLRequest(url: try checkedURL())
        request.httpMethod = method
        for header in headers { request.addValue(header.value, forHTTPHeaderField: header.name) }
        if let body { request.httpBody = Data(body) }
        // The exchange has its own deadline for the whole response; the platform's timeout covers idle time only.
        request.timeoutInterval = timeout.seconds + 60
        return request
    }
}
