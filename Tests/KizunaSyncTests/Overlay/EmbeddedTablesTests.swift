import KizunaCore
import KizunaPostgREST
import KizunaStore
import KizunaSync
import Testing

/// The tables whose writes may change the embedded rows of a request.
@Suite struct EmbeddedTablesTests {
    /// `tasks`, `lists`, `comments`, `people` and `tags` are declared, `pairs` is the join table of tasks and tags, and
    /// `list_id` of a task refers to lists.
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

    /// Returns the names of the tables that a select list on tasks may embed.
    private func embedded(_ select: String) -> String {
        let request = TableRequest(schema: "public", table: "tasks", columns: select)
        let tables = EmbeddedTables(request, tables: Self.schema)
        return ["tasks", "lists", "comments", "people", "tags", "pairs", "notes", "unknown"]
            .filter { tables.mayShow(TableID(name: $0)) }.joined(separator: " ")
    }

    @Test func aSelectListWithoutEmbedsEmbedsNoTable() {
        for select in ["*", "", "id,title", "id,list_id::text", "id,count()", "meta->a"] {
            #expect(embedded(select) == "", Comment(rawValue: select))
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
        // Through a join table without a name in the request, and with one as a hint.
        ("*,tags(*)", "tags pairs unknown"),
        ("*,people!notes(*)", "people notes unknown"),
        // By a declared foreign key.
        ("*,list_id(*)", "lists unknown"),
        ("*,parent:parent_id(*)", "tasks unknown"),
        ("*,lists!list_id(*,tasks(*))", "tasks lists unknown"),
    ])
    func aSelectListEmbedsTheTablesItNames(_ select: String, _ expected: String) {
        #expect(embedded(select) == expected)
    }

    @Test(arguments: ["*,author_id(*)", "*,author:tasks_author_fkey(name)", "*,comments(*,author_id(*))"])
    func aNameThatMayBeAForeignKeyMayEmbedEveryOtherTable(_ select: String) {
        #expect(embedded(select) == "lists comments people tags pairs notes unknown")
    }

    @Test func aTableOfAnotherSchemaIsNotEmbedded() {
        let request = TableRequest(schema: "public", table: "tasks", columns: "*,author_id(*)")
        let embedded = EmbeddedTables(request, tables: Self.schema)
        #expect(!embedded.mayShow(TableID(schema: "other", name: "people")))
    }
}
