#if canImport(CSoup)
    internal import CSoup
    internal import Foundation
    package import KizunaCore

    /// HTTP through libsoup, used on Linux.
    ///
    /// It has the guarantees of `URLSessionTransport`. In addition, every failure before the first sent byte is
    /// `notSent`.
    package final class SoupTransport: WireTransport {
        private let session = LoopSession()
        private let maximumBodyBytes: Int

        package init(maximumBodyBytes: Int = 256 << 20) {
            self.maximumBodyBytes = maximumBodyBytes
        }

        package func send(_ request: WireRequest) async throws -> WireResponse {
            var url = try request.checkedURL()
            var request = request
            for _ in 0..<Redirect.limit {
                let response = try await exchange(request)
                guard
                    let next = Redirect.target(
                        status: response.status, location: response.headers["location"], method: request.method,
                        from: url)
                else { return response }
                url = next
                request.url = next.absoluteString
            }
            return try await exchange(request)
        }

        private func exchange(_ request: WireRequest) async throws -> WireResponse {
            try Task.checkCancellation()
            _ = try request.checkedURL()
            let exchange = Exchange(request, maximumBodyBytes: maximumBodyBytes, mayHaveLeft: false)
            let call = SoupCall(exchange, session)
            call.start()
            do {
                return try await exchange.response()
            } catch {
                call.cancel()
                throw error
            }
        }
    }
#endif
