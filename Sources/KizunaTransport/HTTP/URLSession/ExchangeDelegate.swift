internal import Foundation
internal import KizunaCore
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Forwards the callbacks of the session to the exchange of the request.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private struct Entry {
        let exchange: Exchange
        var redirects = 0
    }

    private let entries = Mutex<[Int: Entry]>([:])

    func add(_ exchange: Exchange, for task: URLSessionTask) {
        entries.withLock { $0[task.taskIdentifier] = Entry(exchange: exchange) }
    }

    func remove(_ task: URLSessionTask) {
        entries.withLock { $0[task.taskIdentifier] = nil }
    }

    private func exchange(_ task: URLSessionTask) -> Exchange? {
        entries.withLock { $0[task.taskIdentifier]?.exchange }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse {
            exchange(dataTask)?.headArrived(
                status: response.statusCode, headers: Self.headers(response), mustBeFramed: false)
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let exchange = exchange(dataTask) else { return }
        if !data.withUnsafeBytes(exchange.bytesArrived) { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchange(task) else { return }
        if let error { exchange.failed(WireFailure(platformError: error)) } else { exchange.completed() }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let count = entries.withLock { entries in
            entries[task.taskIdentifier]?.redirects += 1
            return entries[task.taskIdentifier]?.redirects ?? .max
        }
        guard count <= Redirect.limit, var next = task.originalRequest, let from = next.url, let to = newRequest.url,
            Redirect.isFollowed(method: next.httpMethod ?? "GET", from: from, to: to)
        else { return completionHandler(nil) }
        next.url = to
        completionHandler(next)
    }

    /// A challenge of HTTP is passed on as a response; the platform evaluates only the server's identity.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        switch challenge.protectionSpace.authenticationMethod {
        case NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest, NSURLAuthenticationMethodDefault,
            NSURLAuthenticationMethodNTLM, NSURLAuthenticationMethodNegotiate:
            completionHandler(.rejectProtectionSpace, nil)
        default: completionHandler(.performDefaultHandling, nil)
        }
    }

    private static func headers(_ response: HTTPURLResponse) -> [String: String] {
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            guard let name = (name as? String)?.lowercased(), let value = value as? String else { continue }
            headers[name] = headers[name].map { "\($0), \(value)" } ?? value
        }
        return headers
    }
}
