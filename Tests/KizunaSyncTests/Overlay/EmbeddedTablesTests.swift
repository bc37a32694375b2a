import KizunaCore
import KizunaPostgREST
import KizunaStore
import KizunaSync
import Testing

/// Which tables' writes concern a request that embeds others.
@Suite struct EmbeddedTablesTests {
    /// `tasks`, `lists`, `comments`, `people` and `tags` are declared, `pairs` stands between tasks and tags, and a
    /// task's `list_id` refers to lists.
    private static func schema(_ table: TableID) -> TableSchema {
        let lists = TableID(name: "lists")
        let (tasks, tags) = (TableID(name: "tasks"), TableID(name: "tags"))
        return switch table.name {
        case "tasks": TableSchema(references: ["list_id": lists, "parent_id": tasks], isDeclared: true)
        case "pairs": TableSchema(references: ["task_id": tasks, "tag_id": tags], isDeclared: true)
        case "comments": TableSchema(references: ["task_id": tasks], isDeclared: true)
        case "lists", "people", "tags", "notes": TableSchema(isDeclared: true)
        default: TableSchema()
        }
    }

    /// Those of some tables whose writes concern a select list on tasks.
    private func concerned(_ select: String) -> String {
        let request = TableRequest(schema: "public", table: "tasks", columns: select)
        let embedded = EmbeddedTables(request, tables: Self.schema)
        return ["tasks", "lists", "comments", "people", "tags", "pairs", "notes", "unknown"]
            .filter { embedded.mayShow(TableID(name: $0)) }.joined(separator: " ")
    }

    @Test func aListWithoutEmbedsShowsNothingElse() {
        for select in ["*", "", "id,title", "id,list_id::text", "id,count()", "meta->a"] {
            #expect(concerned(select) == "", Comment(rawValue: select))
        }
    }

    @Test(arguments: [
        ("*,comments(*)", "comments unknown"),
        ("*,talk:comments(*)", "comments unknown"),
        ("*,comments!fk!inner(*)", "comments unknown"),
        ("*,comments!left(*)", "comments unknown"),
        ("*,comments(count)", "comments unknown"),
        ("id,...lists(name)", "lists unknown"),
        ("*,comments(*,people(*))", "comments people unknown"),
        // Through a table of pairs, which is not named, or named as a hint.
        ("*,tags(*)", "tags pairs unknown"),
        ("*,people!notes(*)", "people notes unknown"),
        // By a foreign key that is declared.
        ("*,list_id(*)", "lists unknown"),
        ("*,parent:parent_id(*)", "tasks unknown"),
        ("*,lists!list_id(*,tasks(*))", "tasks lists unknown"),
    ])
    func namedTables(_ select: String, _ expected: String) {
        #expect(concerned(select) == expected)
    }

    @Test(arguments: ["*,author_id(*)", "*,author:tasks_author_fkey(name)", "*,comments(*,author_id(*))"])
    func aNameThatMayBeAForeignKeyConcernsEveryOtherTable(_ select: String) {
        #expect(concerned(select) == "lists comments people tags pairs notes unknown")
    }

    @Test func anotherSchemaIsNoConcern() {
        let request = TableRequest(schema: "public", table: "tasks", columns: "*,author_id(*)")
        let embedded = EmbeddedTables(request, tables: Self.schema)
        #expect(!embedded.mayShow(TableID(schema: "other", name: "people")))
    }
}
