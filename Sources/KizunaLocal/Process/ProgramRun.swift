/// Runs one program to its end without blocking the caller's thread.
enum ProgramRun {
    /// Throws what the program printed when it does not end with 0.
    static func run(_ commandLine: [String]) async throws {
        let child = try ChildProcess(commandLine, folder: "/", output: .pipe, errors: .output)
        // A pipe that is full would stop the program.
        let text = await child.outputText()
        guard await child.end() == .exited(0) else {
            throw LocalError.programFailed(program: ChildProcess.name(commandLine), output: text)
        }
    }
}
