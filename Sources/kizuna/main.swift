internal import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
let rest = Array(arguments.dropFirst())
switch arguments.first {
case "local": exit(await LocalCommand.run(arguments: rest))
case "demo": exit(await DemoCommand.run(arguments: rest))
case "device": exit(await DeviceCommand.run(arguments: rest))
default:
    print(
        """
        kizuna demo     two devices, one of them offline, against a real PostgreSQL
        kizuna local    a Supabase-compatible backend on this machine; see kizuna local --help
        kizuna device   one device of the demo, told what to do on standard input
        """)
    exit(arguments.isEmpty || arguments.first == "--help" ? 0 : 64)
}
