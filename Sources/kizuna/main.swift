internal import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "local": exit(await LocalCommand.run(arguments: Array(arguments.dropFirst())))
default: print("kizuna")
}
