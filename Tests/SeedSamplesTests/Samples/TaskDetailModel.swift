// swift-format-ignore-file
// The sample below stands as on the page.
import KizunaSync
import Observation

@MainActor @Observable
final class TaskDetailModel {
    var photoRows: [TaskPhotoRow] = []
    let repository: TaskRepository

    init(repository: TaskRepository) { self.repository = repository }

    func observePhotos(isSimulatingOffline: Bool) async throws {
// Simulate offline: the device's rows only, without a request the switch would refuse.
let readStrategy: SequenceReadStrategy = isSimulatingOffline ? .cacheOnly : .cacheFirstThenNetwork
for try await snapshot in repository.photoSnapshots(readStrategy: readStrategy) {
    photoRows = snapshot.result ?? []
}
    }
}
