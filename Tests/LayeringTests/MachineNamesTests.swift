import Foundation
import Testing

/// The header of each machine and `docs/machines.md` name the states, events and effects that the source declares.
@Suite struct MachineNamesTests {
    private static let machineFile = Pattern(#"^(\w+Machine)\.swift$"#)

    @Test func headersAndThePageNameWhatTheSourceDeclares() throws {
        let files = try SourceTree.files()
        let page = try #require(files.first { $0.path == "docs/machines.md" }).lines
        let machines = files.filter { $0.target == "KizunaSync" }.compactMap { Self.machineFile.capture(in: $0.name) }
        #expect(machines.contains("QueueMachine"))
        let differences = machines.flatMap { machine in
            MachineNames(
                machine: machine,
                files: files.filter { $0.name.hasPrefix(machine + ".") || $0.name.hasPrefix(machine + "+") }
            )
            .differences(from: page)
        }
        #expect(differences.isEmpty, "\n\(differences.joined(separator: "\n"))")
    }

    private static let source = """
        /// Decides. Pure.
        ///
        /// States:
        /// - `off`: nothing. → `on`.
        /// - `on(since)`: something.
        ///
        /// Invariants:
        /// - `other`: not a state.
        struct LampMachine {
            private enum State { case off
                case on(Int) }
            enum Event {
                /// A comment with case pressed.
                case pressed(times: Int)
                case broken, mended
                enum Nested { case hidden }
            }
        }
        """

    private func names(_ text: String) -> MachineNames {
        MachineNames(
            machine: "LampMachine", files: [SourceFile(path: "Sources/KizunaSync/LampMachine.swift", text: text)])
    }

    @Test func namesAreReadFromTheSource() {
        let names = names(
            Self.source.replacingOccurrences(of: "State { case off\n", with: "State {\n        case off\n"))
        #expect(names.states == ["off", "on"])
        #expect(names.headerStates == ["off", "on"])
        #expect(names.events == ["pressed", "broken", "mended"])
        #expect(
            names.differences(from: [
                "States of `LampMachine`: `off`, `on`.", "Events of `LampMachine`: `pressed`, `broken`, `mended`.",
            ]) == [])
    }

    @Test func eachDifferenceIsFound() {
        let names = names(
            Self.source.replacingOccurrences(
                of: "State { case off\n", with: "State {\n        case off\n        case dim\n"))
        #expect(names.differences(from: ["Events of `LampMachine`: `pressed`."]).count == 3)
    }
}
