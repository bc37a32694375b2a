internal import Foundation

// One app process that does a scripted job on a store, and dies where it is told to. The crash tests start it.

exit(await CrashWorker.run(ProcessInfo.processInfo.environment))
