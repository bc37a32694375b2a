import Dispatch
import Foundation
import KizunaTransport

// Prints each report of the platform's path monitor as a line, until it is killed. Run by scripts/path-check.

let monitor = PlatformPathMonitor()
monitor.start { isSatisfied in
    FileHandle.standardOutput.write(Data((isSatisfied ? "online\n" : "offline\n").utf8))
}
dispatchMain()
