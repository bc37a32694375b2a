internal import Foundation
internal import KizunaCore
package import KizunaStore
internal import KizunaTransport

/// The folder of one project's stores: a file per owner, named by a hash, and a record of the last owner.
package struct OwnerDirectory: Sendable {
    /// Nil keeps the stores in memory, for tests.
    private let folder: String?

    /// The folder of a project within the data directory; each project has its own.
    package init(dataDirectory: String?, projectURL: String) {
        folder = dataDirectory.map { "\($0)/kizunasync/\(PlatformDigest.sha256Hex(projectURL).prefix(16))" }
    }

    package func file(of owner: OwnerID) -> StoreFile {
        guard let folder else { return .inMemory }
        return StoreFile(path: "\(folder)/\(Self.name(of: owner)).sqlite")
    }

    private static func name(of owner: OwnerID) -> String { String(PlatformDigest.sha256Hex(owner.text).prefix(32)) }

    private var note: String? { folder.map { "\($0)/last-owner" } }

    /// The owner whose store was open last; nobody without a record, or if the store cannot be read.
    package func lastOwner() -> OwnerID {
        noted.first.flatMap { owner(named: $0) } ?? .nobody
    }

    /// Previous owners whose cached rows are still in their stores, because the process ended before their removal.
    package func unsealedOwners() -> [OwnerID] {
        noted.dropFirst().compactMap { owner(named: $0) }
    }

    /// The names in the record: the current owner's, then those of previous owners with rows.
    private var noted: [String] {
        guard let note, let text = try? String(contentsOfFile: note, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").map(String.init)
    }

    private func owner(named name: String) -> OwnerID? {
        guard let folder, name.utf8.allSatisfy({ JSONScanner.hexValue($0) != nil }) else { return nil }
        return OwnerStore.owner(of: StoreFile(path: "\(folder)/\(name).sqlite")).map { OwnerID(text: $0) }
    }

    /// The owners that have a store here.
    package func owners() -> [OwnerID] {
        guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return [] }
        return names.filter { $0.hasSuffix(".sqlite") }.compactMap { name in
            OwnerStore.owner(of: StoreFile(path: "\(folder)/\(name)")).map { OwnerID(text: $0) }
        }
    }

    /// The number of pending mutations in a store that is not open.
    package func pendingMutationCount(of owner: OwnerID) -> Int {
        OwnerStore.pendingMutationCount(of: file(of: owner))
    }

    /// Removes a store's files.
    package func remove(_ owner: OwnerID) throws(SyncError) {
        try file(of: owner).remove()
    }

    /// Excludes the stores from backups and encrypts them at rest, on platforms that can.
    package func protect() throws {
        guard let folder else { return }
        try PlatformFiles.protect(folder: folder)
    }

    /// Persists the current owner for the next start, and the previous owners with rows. The record holds hashes only.
    package func remember(_ owner: OwnerID, unsealed: [OwnerID] = []) throws {
        guard let note else { return }
        let names = ([owner] + unsealed).map { Self.name(of: $0) }
        try Data(names.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: note), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: note)
    }
}
