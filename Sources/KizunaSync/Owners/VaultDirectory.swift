internal import Foundation
internal import KizunaCore
package import KizunaStore
internal import KizunaTransport

/// The folder of one project's vaults: a file per owner, named by a hash, and a note of who was the last.
package struct VaultDirectory: Sendable {
    /// Nil keeps the vaults in memory, for tests.
    private let folder: String?

    /// The folder of a project within the data directory; each project has its own.
    package init(dataDirectory: String?, projectURL: String) {
        folder = dataDirectory.map { "\($0)/kizunasync/\(PlatformDigest.sha256Hex(projectURL).prefix(16))" }
    }

    package func file(of owner: OwnerID) -> VaultFile {
        guard let folder else { return .inMemory }
        return VaultFile(path: "\(folder)/\(Self.name(of: owner)).sqlite")
    }

    private static func name(of owner: OwnerID) -> String { String(PlatformDigest.sha256Hex(owner.text).prefix(32)) }

    private var note: String? { folder.map { "\($0)/last-owner" } }

    /// The owner whose vault was open last; nobody when there is no note or its vault cannot be read.
    package func lastOwner() -> OwnerID {
        guard let note, let folder, let name = try? String(contentsOfFile: note, encoding: .utf8),
            name.utf8.allSatisfy({ JSONScanner.hexValue($0) != nil }),
            let text = Vault.owner(of: VaultFile(path: "\(folder)/\(name).sqlite"))
        else { return .nobody }
        return OwnerID(text: text)
    }

    /// The owners that have a vault here.
    package func owners() -> [OwnerID] {
        guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
        return names.filter { $0.hasSuffix(".sqlite") }.compactMap { name in
            Vault.owner(of: VaultFile(path: "\(folder)/\(name)")).map { OwnerID(text: $0) }
        }
    }

    /// How many writes wait in a vault that is not open.
    package func pendingCount(of owner: OwnerID) -> Int {
        Vault.pendingCount(of: file(of: owner))
    }

    /// Removes a vault's files.
    package func remove(_ owner: OwnerID) throws(SyncError) {
        guard let path = file(of: owner).path else { return }
        do {
            for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
                try FileManager.default.removeItem(atPath: path + suffix)
            }
        } catch {
            throw SyncError(.storage, "The store's files could not be removed.", underlying: error)
        }
    }

    /// Notes the owner for the next start. The note holds the hash alone.
    package func remember(_ owner: OwnerID) throws {
        guard let note else { return }
        try Data(Self.name(of: owner).utf8).write(to: URL(fileURLWithPath: note), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: note)
    }
}
