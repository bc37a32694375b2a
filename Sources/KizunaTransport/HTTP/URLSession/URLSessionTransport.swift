internal import Foundation
package import KizunaCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// HTTP through `URLSession`: what Apple platforms use.
///
/// It keeps no cookies, no cache and no credentials; it follows a redirect only for a read to the same origin; it
/// takes an answer only when it is whole. A request's time-out counts from its start to its last byte.
///
/// Linux has it too, but uses `SoupTransport`: there, an answer that ends inside its head ends the process, and a
/// write whose reused connection has died waits until its time-out.
///
/// *Threads:* callbacks arrive on the session's own serial queue. *Cancellation:* ends the request at once with
/// `CancellationError`; the server may have handled it.
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
        // A session holds its delegate and its connections until it is told to let go.
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
