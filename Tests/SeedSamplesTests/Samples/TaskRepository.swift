// swift-format-ignore-file
// The sample below stands as on the page.
import KizunaSync

struct TaskRepository: Sendable {
    let client: KizunaSyncClient
    let session: SessionHolder

/// Every task of the user, newest first, as the device holds it and as the server refreshes
/// it: the list the other screens share. The task screen picks its task out of it, because
/// each query is cached on its own, and offline a query never fetched has nothing to show.
func taskSnapshots(readStrategy: SequenceReadStrategy = .cacheFirstThenNetwork) -> QuerySnapshotSequence<[TaskRow]> {
    client.from(Tables.tasks)
        .selectAsSequence(as: [TaskRow].self, readStrategy: readStrategy)
        .order("created_at", ascending: false)
}

/// The photo rows of `taskIDs`, the tasks on screen, in one query: the list shows how many
/// photos each one has.
func photoSnapshots(ofTasks taskIDs: [String]) -> QuerySnapshotSequence<[TaskPhotoRow]> {
    client.from(Tables.taskPhotos)
        .selectAsSequence(as: [TaskPhotoRow].self)
        .in("task_id", values: taskIDs)
        .order("created_at", ascending: true)
}

/// The user's newest `count` photos, for the Photos grid, which asks for a page more each
/// time it reaches the end.
func photoPage(count: Int) -> QuerySnapshotSequence<[TaskPhotoRow]> {
    client.from(Tables.taskPhotos)
        .selectAsSequence(as: [TaskPhotoRow].self)
        .order("created_at", ascending: false)
        .limit(count)
}

    func photoSnapshots(readStrategy: SequenceReadStrategy) -> QuerySnapshotSequence<[TaskPhotoRow]> {
        client.from(Tables.taskPhotos).selectAsSequence(as: [TaskPhotoRow].self, readStrategy: readStrategy)
    }

    func pendingMutations(table: String) -> KizunaStateSequence<[PendingMutation]> { client.pendingMutations(table: table) }
}
