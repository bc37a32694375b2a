/// The options of the command line.
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

    /// Parses the command line; nil if it is not valid.
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
