internal import Foundation
package import KizunaCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// HTTP through `URLSession`, used on Apple platforms.
///
/// It keeps no cookies, no cache and no credentials. It follows a redirect only for a read to the same origin. It
/// accepts only complete responses. A request's timeout covers the time from its start to the last byte of the
/// response.
///
/// Linux uses `SoupTransport` instead: with `URLSession` there, a response that ends inside its header terminates the
/// process, and a write on a broken keep-alive connection waits until its timeout.
///
/// *Threads:* callbacks arrive on the session's serial queue. *Cancellation:* ends the request at once with
/// `CancellationError`; the server may have handled the request.
package final class URLSessionTransport: WireTransport {
    private let session: URLSession
    private let delegate = ExchangeDelegate()
    private let maximumBodyBytes: Int

    package init(maximumBodyBytes: Int = 256 << 20) {
        self.maximumBodyBytes = maximumBodyBytes
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit {
        // A session keeps its delegate and its connections until it is invalidated.
        session.invalidateAndCancel()
    }

    package func send(_ request: WireRequest) async throws -> WireResponse {
        try Task.checkCancellation()
        let task = session.dataTask(with: try request.urlRequest())
        let exchange = Exchange(request, maximumBodyBytes: maximumBodyBytes, mayHaveLeft: true)
        guard exchange.mayLeave else { throw WireFailure(.notSent, "the turn to send has passed") }
        delegate.add(exchange, for: task)
        defer { delegate.remove(task) }
        task.resume()
        do {
            return try await exchange.response()
        } catch {
            task.cancel()
            throw error
        }
    }
}
