/// Where a database is and who asks.
struct DatabaseAddress: Sendable {
    let socketFolder: String
    let user: String
    let database: String

    var connectionString: String {
        func quoted(_ value: String) -> String {
            "'" + value.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        }
        return "host=\(quoted(socketFolder)) user=\(quoted(user)) dbname=\(quoted(database)) "
            + "application_name=kizuna client_encoding=UTF8"
    }
}
