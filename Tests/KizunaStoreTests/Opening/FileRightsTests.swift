import TestSupport
import Foundation
import KizunaCore
import KizunaStore
import Testing

@Suite struct FileRightsTests {
    @Test func filesAreForThisUserAlone() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        _ = try await store.enqueue([try insertion("a")], limit: 10)
        let files = try scene.folder.files().map(\.path)
        #expect(files.map { $0.replacingOccurrences(of: scene.path, with: "") }.sorted() == ["", "-shm", "-wal"])
        for file in files { #expect(try rights(file) == 0o600, "\(file)") }
        #expect(try rights(scene.folder.path + "/vaults") == 0o700)
        await store.close()
    }

    /// A file stands where the folder should be: no user, not even an administrator, can make the store there.
    @Test func aFolderThatCannotBeMadeIsSaidToBeUnwritable() throws {
        let scene = try StoreScene()
        _ = FileManager.default.createFile(atPath: scene.folder.path + "/vaults", contents: Data("x".utf8))
        let error = #expect(throws: SyncError.self) { try scene.open() }
        #expect(error?.code == .unwritableDirectory)
    }

    @Test(.enabled(if: getuid() != 0, "an administrator may write everywhere"))
    func aFolderWithoutWriteRightIsSaidToBeUnwritable() throws {
        let scene = try StoreScene()
        try FileManager.default.createDirectory(
            atPath: scene.folder.path + "/vaults", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o500])
        let error = #expect(throws: SyncError.self) { try scene.open() }
        #expect(error?.code == .unwritableDirectory)
    }

    private func rights(_ path: String) throws -> Int {
        let value = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        return (value as? NSNumber)?.intValue ?? -1
    }
}
