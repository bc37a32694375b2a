internal import Foundation
internal import KizunaCore

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension WireFailure {
    /// Maps an error of the platform. If it is not certain that the request was not sent, the outcome is unknown.
    init(platformError error: any Error) {
        guard let error = error as? URLError else {
            self.init(.outcomeUnknown, "the platform failed with \(type(of: error))")
            return
        }
        let kind = Self.kind(of: error.code)
        self.init(kind, "\(Self.sentence(for: kind)) (URLError \(error.code.rawValue))")
    }

    static func kind(of code: URLError.Code) -> Kind {
        switch code {
        case .notConnectedToInternet, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .dataNotAllowed,
            .internationalRoamingOff, .callIsActive, .secureConnectionFailed:
            .notSent
        case .badURL, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection, .fileDoesNotExist,
            .userAuthenticationRequired, .noPermissionsToReadFile:
            .unusable
        // Also `unsupportedURL`: the URL is checked before, so on Linux this is a response that is not HTTP.
        default: .outcomeUnknown
        }
    }

    private static func sentence(for kind: Kind) -> String {
        switch kind {
        case .notSent: "no connection came about"
        case .outcomeUnknown: "the connection ended before the answer was whole"
        case .unusable: "the request cannot be sent"
        }
    }
}
