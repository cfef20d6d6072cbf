import Glibc
import Manifest
import Orchestrator
import Testing

@testable import OrchestratorCLI

/// A directory for one test, removed with what is in it.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/cli-XXXXXX".utf8CString)
        let made = unsafe mkdtemp(&template) != nil
        try #require(made)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in ["orchestrator.yaml", "db.env"] { unsafe unlink("\(path)/\(name)") }
        unsafe rmdir(path)
    }

    /// Writes a file and returns its path.
    func write(_ text: String, to name: String = "orchestrator.yaml") throws -> String {
        let file = "\(path)/\(name)"
        let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
        #expect(count == bytes.count)
        return file
    }
}

@Suite("config and the project it is read from", .timeLimit(.minutes(1)))
struct ConfigTests {
    private static let rich = #"""
        name: shop
        exitBudget: 45s
        stopOrder: parallel
        services:
          db:
            description: "the: database"
            command: [postgres, -D, 'data dir', "$$HOME", "a\"b", "${HOME}"]
            environment: {PORT: "5432", EMPTY: "", MARK: "yes", COST: "5$$"}
            environmentFile: [db.env, {path: missing.env, required: false}]
            inheritEnvironment: [PATH, LANG]
            ready: {all: [{tcp: "[::1]:5432"}, {exec: {command: [pg_isready], timeout: 2s}}]}
            stop: [{signal: INT, wait: 3s}, {command: [pg_ctl, stop]}, {signal: QUIT, to: main}]
            stopTimeout: 12s
            startAttempts: 3
            provides: {url: "postgres://localhost:5432/app", token: {from: ready}}
            restart: {policy: always, backoff: {initial: 100ms, factor: 1.5, max: 7s, jitter: 0.3}}
            umask: "027"
            nice: 3
            limits: {nofile: 4096, core: {soft: 0, hard: unlimited}}
            output: {maxSize: 1MB, keep: 2, maxLine: 4KiB, separate: true}
          migrate:
            type: oneshot
            command: ./migrate up
            needs: [db]
            timeout: 90s
            rerun: withNeeds
          api:
            command: [./api]
            environment: {DATABASE_URL: "${db.url}?x=$$1"}
            needs: {db: {onNeedLost: restart}, migrate: {condition: completed, required: false}}
            control: true
            ready: notify
            reload: USR1
            watchdog: 10s
            live: {unix: run/api.sock, interval: 3s, threshold: 7}
            start: manual
            essential: true
            onStartFailure: keep
          log:
            command: [sh, -c, "echo hi"]
            ready: {log: "^ready [0-9]+$"}
            live: {exec: [check, "a b"], timeout: 2s}
        """#

    @Test("CLI-23: what config prints loads to the same project")
    func roundTrip() throws {
        let directory = try TemporaryDirectory()
        _ = try directory.write("SECRET=1\n", to: "db.env")
        let environment = ["HOME": "/srv/a$b", "PATH": "/bin"]
        let file = try directory.write(Self.rich)
        let first = try loadProject(file: file, environment: environment)
        let yaml = YAMLText.text(EffectiveConfig.json(first.project))
        _ = try directory.write(yaml)
        let second = try loadProject(file: file, environment: environment)
        #expect(second.project.services.count == first.project.services.count)
        for (one, other) in zip(first.project.services, second.project.services) {
            #expect(one == other)
        }
        #expect(first.project == second.project)
        #expect(YAMLText.text(EffectiveConfig.json(second.project)) == yaml)
    }

    @Test("CLI-19: a broken config is the same project to whoever wants to stop it")
    func brokenConfig() throws {
        let directory = try TemporaryDirectory()
        let environment = ["HOME": directory.path, "XDG_RUNTIME_DIR": directory.path]
        let file = try directory.write("services: {db: {command: [a]}}\n")
        let before = try EngineAccess(file: file, environment: environment)
        _ = try directory.write("services: {db: {command: [a]\n")
        let after = try EngineAccess(file: file, environment: environment)
        #expect(before.sockets == after.sockets)
        #expect(before.names == ["db"] && after.names.isEmpty)
        // With nothing running, the config is what has to be repaired first.
        #expect(performing: { try after.connect() }, throws: { ($0 as? Failure)?.code == .config })
        #expect(
            performing: { try before.connect() }, throws: { ($0 as? Failure)?.code == .nothingRuns }
        )
    }

    @Test(
        "texts that look like something else are quoted",
        arguments: [
            ("abc", "abc"), ("/a/b.c", "/a/b.c"), ("30s", "30s"), ("no", "\"no\""), ("", "\"\""),
            ("010", "\"010\""), ("1.5", "\"1.5\""), ("a: b", "\"a: b\""), ("-x", "\"-x\""),
            ("a\nb", "\"a\\nb\""), ("é", "\"é\""), ("~", "\"~\""), ("1e3", "\"1e3\""),
        ])
    func scalars(text: String, yaml: String) {
        #expect(YAMLText.text(["k": .string(text)]) == "k: \(yaml)\n")
    }

    @Test(
        "CLI-24: names a shell would expand are not offered",
        arguments: ["a b", "$(reboot)", "`x`", "a;b", "é"])
    func unsafeNames(name: String) {
        #expect(!CompletionScripts.isSafe(name))
        #expect(CompletionScripts.isSafe("web-1.a_b"))
    }
}
