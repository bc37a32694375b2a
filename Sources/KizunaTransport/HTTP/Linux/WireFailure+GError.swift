#if canImport(CSoup)
    internal import CSoup
    internal import KizunaCore

    extension WireFailure {
        /// Maps an error of libsoup: a failure before the first sent byte is `notSent`.
        init(_ error: GError, _ exchange: Exchange) {
            if error.domain == g_tls_error_quark(), error.code == Int32(G_TLS_ERROR_BAD_CERTIFICATE.rawValue) {
                self.init(.unusable, "the server's certificate is not trusted")
                return
            }
            let domain = g_quark_to_string(error.domain).map { String(cString: $0) } ?? "unknown"
            self = exchange.failure("the connection failed (\(domain) \(error.code))")
        }
    }
#endif
