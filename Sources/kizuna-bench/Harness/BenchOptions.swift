/// What the command line asks for.
struct BenchOptions {
    static let usage = """
        usage: kizuna-bench [--json] [--only NAME] [--quick]

          --json        print JSON instead of a table
          --only NAME   run only the benchmarks whose name contains NAME
          --quick       smaller sizes, for a check that everything still runs
        """

    var printsJSON = false
    var only: String?
    var isQuick = false

    /// Nil for a command line that is not understood.
    init?(arguments: [String]) {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--json": printsJSON = true
            case "--quick": isQuick = true
            case "--only":
                guard let name = rest.popFirst() else { return nil }
                only = name
            default: return nil
            }
        }
    }
}
