#if canImport(Security)
    internal import Foundation
    package import KizunaCore
    internal import Security

    /// The system's Keychain.
    package enum PlatformKeychain {
        package static func open(service: String, accessGroup: String?) throws(SyncError) -> any SecretStore {
            Keychain(service: service, accessGroup: accessGroup)
        }
    }

    /// Generic passwords of one service, readable after the first unlock and on this device only.
    private struct Keychain: SecretStore {
        let service: String
        let accessGroup: String?

        func read(_ account: String) throws(SyncError) -> [UInt8]? {
            var query = query(account)
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            guard status != errSecItemNotFound else { return nil }
            guard status == errSecSuccess, let data = found as? NSData else { throw Self.failure(status) }
            return Array(Data(referencing: data))
        }

        func write(_ secret: [UInt8]?, _ account: String) throws(SyncError) {
            let query = query(account)
            guard let secret else {
                let status = SecItemDelete(query as CFDictionary)
                guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.failure(status) }
                return
            }
            let value: [String: Any] = [
                kSecValueData as String: Data(secret),
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query as CFDictionary, value as CFDictionary)
            if status == errSecItemNotFound {
                let item = query.merging(value) { _, new in new }
                status = SecItemAdd(item as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw Self.failure(status) }
        }

        private func query(_ account: String) -> [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
                kSecAttrAccount as String: account, kSecUseDataProtectionKeychain as String: true,
            ]
            if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
            return query
        }

        private static func failure(_ status: OSStatus) -> SyncError {
            SyncError(
                .storage,
                status == errSecInteractionNotAllowed
                    ? "The Keychain is locked; it is asked again."
                    : "The Keychain could not be used (status \(status)).")
        }
    }
#endif
