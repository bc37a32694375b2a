/// The SQL of a GET or HEAD.
struct ReadStatement {
    let text: String
    let sql: SQLText
    /// The rows without page and order, for PostgreSQL's estimate.
    let countText: String
    let countSQL: SQLText

    /// Gives three columns: the total or null, the number of rows, the body or null.
    init(_ query: RestQuery, _ shape: TableShape, range: RowRange, countsAll: Bool, form: AnswerForm?) {
        var sql = SQLText()
        let select = SelectSQL(shape: shape, qualifier: shape.sqlName)
        let list = select.list(query.select, &sql)
        let condition = select.filter.whereClause(query.filters, &sql)
        let group = SelectSQL.groupClause(query.select)
        let order = select.orderClause(query.order, &sql)
        var page = ""
        if let limit = range.limit { page += " LIMIT \(limit)" }
        if range.offset > 0 { page += " OFFSET \(range.offset)" }
        let total =
            if !countsAll { "NULL" } else if range.isAll { "count(*)" } else {
                "(SELECT count(*) FROM \(shape.sqlName)\(condition))"
            }
        text = """
            SELECT \(total), count(*), \(form.map(SelectSQL.body) ?? "NULL")
            FROM (SELECT \(list) FROM \(shape.sqlName)\(condition)\(group)\(order)\(page)) AS kizuna_row
            """
        self.sql = sql
        var countSQL = SQLText()
        countText = "SELECT FROM \(shape.sqlName)\(select.filter.whereClause(query.filters, &countSQL))"
        self.countSQL = countSQL
    }
}
