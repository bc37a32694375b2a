import KizunaPostgREST
import KizunaSync
import KizunaSyncTesting

/// Two queries of one table that together contain each row once: open tasks and done tasks.
enum TwoLists {
    static let rows = """
        [{"id":"a","title":"one","done":false},{"id":"b","title":"two","done":false},
        {"id":"c","title":"one","done":true}]
        """

    static func list(_ scene: ReadScene, done: Bool) -> QuerySnapshotSequence<[TaskRow]> {
        scene.client.from("tasks").selectAsSequence(as: [TaskRow].self).eq("done", value: done)
    }
}
