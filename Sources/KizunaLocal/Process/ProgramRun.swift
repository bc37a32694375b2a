/// Runs one program to its end without blocking the caller's thread.
enum ProgramRun {
    /// Throws what the program printed when it does not end with 0.
    static func run(_ commandLine: [String]) async throws {
        let child = try ChildProcess(commandLine, folder: "/", output: .pipe, errors: .output)
        // A pipe that is full would stop the program.
        let text = await child.outputText()
        guard await child.end() == .exited(0) else {
            throw LocalError.programFailed(program: name(commandLine), output: text)
        }
    }

    /// The program's name without its folder.
    static func name(_ commandLine: [String]) -> String {
        commandLine.first?.split(separator: "/").last.map(String.init) ?? ""
    }
}
