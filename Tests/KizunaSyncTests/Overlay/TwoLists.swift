import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting

/// Two lists of one table that between them show each row once: tasks that are open, and tasks that are done.
enum TwoLists {
    static let rows = """
        [{"id":"a","title":"one","done":false},{"id":"b","title":"two","done":false},
        {"id":"c","title":"one","done":true}]
        """

    static func list(_ scene: ReadScene, done: Bool) -> QuerySnapshotSequence<[TaskRow]> {
        scene.client.from("tasks").selectAsSequence(as: [TaskRow].self).eq("done", value: done)
    }
}
