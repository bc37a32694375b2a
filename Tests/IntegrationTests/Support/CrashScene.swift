import TestSupport
import Foundation
import KizunaLocal
import KizunaSync

/// A backend with a table of notes, a store, and workers that come and go on it.
final class CrashScene: Sendable {
    /// The trigger writes down each change of a row, so that what was done twice shows even where the table looks right.
    static let schema = """
        CREATE TABLE notes (id uuid PRIMARY KEY, title text NOT NULL);
        CREATE TABLE changes (number bigserial PRIMARY KEY, kind text NOT NULL, id uuid NOT NULL);
        CREATE FUNCTION note_change() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO changes (kind, id) VALUES (TG_OP, COALESCE(NEW.id, OLD.id));
          RETURN NULL;
        END $$;
        CREATE TRIGGER note_change AFTER INSERT OR UPDATE OR DELETE ON notes
        FOR EACH ROW EXECUTE FUNCTION note_change();
        """

    let backend: LocalBackend
    let store: ScratchFolder

    init(_ backend: LocalBackend) throws {
        self.backend = backend
        store = try ScratchFolder()
    }

    /// Starts a worker on the store; without a job it only drains. `more` are further variables of its surroundings.
    func start(
        _ job: [String] = [], kill: String? = nil, isOfflineFirst: Bool = false, _ more: [String: String] = [:]
    ) throws -> WorkerProcess {
        var variables = [
            "KIZUNA_URL": backend.url, "KIZUNA_KEY": backend.anonKey, "KIZUNA_STORE": store.path,
            "KIZUNA_JOB": job.joined(separator: "\n"),
        ]
        variables["KIZUNA_KILL"] = kill
        if isOfflineFirst { variables["KIZUNA_OFFLINE_FIRST"] = "1" }
        return try WorkerProcess(variables.merging(more) { $1 })
    }

    func run(
        _ job: [String] = [], kill: String? = nil, isOfflineFirst: Bool = false
    ) async throws -> WorkerProcess.End {
        try await start(job, kill: kill, isOfflineFirst: isOfflineFirst).end()
    }

    /// The server's table: title by key.
    func serverNotes() async throws -> [String: String] {
        var notes: [String: String] = [:]
        for row in try await backend.query("SELECT id, title FROM notes") { notes[row["id"] ?? ""] = row["title"] }
        return notes
    }

    /// The keys that were inserted more than once.
    func insertedTwice() async throws -> [String] {
        try await backend.query(
            "SELECT id FROM changes WHERE kind = 'INSERT' GROUP BY id HAVING count(*) > 1"
        ).compactMap { $0["id"] }
    }

    var writes: [LoggedRequest] { backend.control.requests.filter { $0.method != "GET" } }
}

/// A key for the nth row of a test, easy to tell in a failure.
func noteKey(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
}

/// What the server's table should be after these steps: the meaning of a job, without any of the machinery.
func intendedNotes(after steps: some Sequence<String>) -> [String: String] {
    var notes: [String: String] = [:]
    for step in steps {
        let words = step.split(separator: " ").map(String.init)
        switch words[0] {
        case "insert", "upsert": notes[words[1]] = words[2]
        case "update": if notes[words[1]] != nil { notes[words[1]] = words[2] }
        case "delete": notes[words[1]] = nil
        default: break
        }
    }
    return notes
}
