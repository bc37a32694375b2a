internal import Foundation

guard let options = BenchOptions(arguments: Array(CommandLine.arguments.dropFirst())) else {
    print(BenchOptions.usage)
    exit(CommandLine.arguments.contains("--help") ? 0 : 64)
}
exit(await BenchRun(options).perform())
