import Manifest
import Stoic
import Testing

@Suite("Configs to definitions", .timeLimit(.minutes(1)))
struct DefinitionTests {
    @Test("absent keys mean the documented defaults")
    func defaults() throws {
        let project = try load(one("description: \"\""))
        #expect(project.file == "/project/orchestrator.yaml")
        #expect(project.directory == "/project")
        #expect(project.exitBudget == .seconds(30))
        #expect(project.stopOrder == .reverse)
        let service = try project.service("a")
        var expected = ServiceSpec("a")
        expected.launchDigest = service.spec.launchDigest
        #expect(service.spec == expected)
        #expect(service.ready == .started(for: .zero))
        #expect(service.launch.workingDirectory == "/project")
        #expect(service.launch.environment == [.inheritAll])
        #expect(service.reloadSignal == 1)
        #expect(service.output == OutputDefinition())
        #expect(!service.hasControlChannel)
    }

    @Test("CFG-5: an absent time-out is the default, 0s is zero, and small ones are kept")
    func stopTimeouts() throws {
        #expect(try load(one("")).service("a").spec.stopTimeout == .seconds(10))
        for (text, duration) in [
            ("0s", Duration.zero), ("1ms", .milliseconds(1)), ("2s", .seconds(2)),
        ] {
            let project = try load(one("stopTimeout: \(text)"))
            #expect(try project.service("a").spec.stopTimeout == duration)
        }
    }

    @Test("every rule reaches the spec")
    func rules() throws {
        let spec = try load(
            """
            onStartFailure: keep
            services:
              db: {command: [db]}
              api:
                command: [api]
                needs: {db: {condition: started, required: false, onNeedLost: restart}}
                start: manual
                startTimeout: 2s
                startAttempts: 3
                stopTimeout: 4s
                essential: true
                watchdog: 5s
                ready: notify
                onStartFailure: rollback
                restart:
                  policy: always
                  backoff: {initial: 1s, factor: 3, max: 9s, jitter: 0}
                  resetAfter: 1m
                  limit: {count: 2, window: 1h}
            """
        ).service("api").spec
        #expect(
            spec.needs == [Need("db", .started, required: false, onNeedLost: .restart)])
        #expect(!spec.startsAutomatically)
        #expect(spec.readiness == .reported)
        #expect(spec.startTimeout == .seconds(2))
        #expect(spec.startTimeoutMax == .seconds(20))
        #expect(spec.startAttempts == 3)
        #expect(spec.isEssential)
        #expect(spec.watchdog == .seconds(5))
        #expect(spec.onStartFailure == .rollback)
        #expect(spec.restart.mode == .always)
        #expect(spec.restart.backoff.delayBeforeJitter(step: 1) == .seconds(3))
        #expect(spec.restart.backoff.delayBeforeJitter(step: 5) == .seconds(9))
        #expect(spec.restart.resetAfter == .seconds(60))
        #expect(spec.restart.limitCount == 2)
        #expect(spec.restart.limitWindow == .seconds(3_600))
    }

    @Test("YAML's odd words stay words: NO, no, on, ~ and null")
    func norway() throws {
        let project = try load(
            """
            services:
              a:
                command: [run, NO, on, ~, null, 0x10, 1:30]
                restart: no
                environment: {COUNTRY: NO, NOTHING: , TILDE: ~}
            """)
        let service = try project.service("a")
        #expect(service.spec.restart.mode == .no)
        #expect(
            service.launch.command
                == ["run", "NO", "on", "~", "null", "0x10", "1:30"].map { Template(literal: $0) })
        #expect(service.variable("COUNTRY") == "NO")
        #expect(service.variable("NOTHING") == "")
        #expect(service.variable("TILDE") == "~")
    }

    @Test("a oneshot has its own bounds, and defaults for services pass it over")
    func oneshots() throws {
        let project = try load(
            """
            defaults:
              startTimeout: 1s
              ready: notify
              watchdog: 3s
              restart: always
              timeout: 2m
            services:
              service: {command: [x]}
              plain: {type: oneshot, command: [x]}
              bound:
                {type: oneshot, command: [x], startTimeout: 5s, rerun: withNeeds, keepTree: true}
            """)
        let plain = try project.service("plain")
        #expect(plain.spec.kind == .oneshot(rerunsWithNeeds: false, keepsTree: false))
        #expect(plain.spec.startTimeout == .seconds(120))
        #expect(plain.spec.watchdog == nil)
        #expect(plain.spec.readiness == .completion)
        #expect(plain.ready == .completion)
        #expect(plain.spec.restart.mode == .onFailure)
        let bound = try project.service("bound")
        #expect(bound.spec.startTimeout == .seconds(5))
        #expect(bound.spec.kind == .oneshot(rerunsWithNeeds: true, keepsTree: true))
        #expect(try project.service("service").spec.startTimeout == .seconds(1))
        #expect(try project.service("service").ready == .notify)
        let hour = try load("services: {m: {type: oneshot, command: [x]}}").service("m")
        #expect(hour.spec.startTimeout == .seconds(3_600))
    }

    @Test("every kind of readiness is read")
    func readiness() throws {
        let rows: [(String, ReadyDefinition)] = [
            ("notify", .notify), ("started", .started(for: .zero)),
            ("{started: {for: 1s}}", .started(for: .seconds(1))), ("{fd: 4}", .descriptor(4)),
            ("{tcp: 5432}", .tcp(host: "127.0.0.1", port: 5432)),
            ("{tcp: \"localhost:80\"}", .tcp(host: "localhost", port: 80)),
            ("{tcp: \"[::1]:80\"}", .tcp(host: "::1", port: 80)),
            ("{tcp: \"${PORT}\"}", .tcp(host: "127.0.0.1", port: 99)),
            ("{unix: run/s.sock}", .unix("/project/run/s.sock")), ("{unix: \"@s\"}", .unix("@s")),
            ("{log: \"^ready|up$\"}", .log("^ready|up$")), ("{file: ok}", .file("/project/ok")),
            ("{delay: 2s}", .delay(.seconds(2))),
            (
                "{exec: pg_isready -q}",
                .exec([.init(literal: "pg_isready"), .init(literal: "-q")], timeout: .seconds(5))
            ),
            (
                "{exec: {command: [x], timeout: 1s}}",
                .exec([.init(literal: "x")], timeout: .seconds(1))
            ),
            (
                "{all: [notify, {any: [{tcp: 1}, {delay: 1s}]}]}",
                .all([.notify, .any([.tcp(host: "127.0.0.1", port: 1), .delay(.seconds(1))])])
            ),
        ]
        for (text, expected) in rows {
            let project = try load(one("ready: \(text)"), environment: ["PORT": "99"])
            #expect(try project.service("a").ready == expected, "\(text)")
        }
    }

    @Test("stops are lists of rungs, one map is a list of one")
    func stops() throws {
        let short = try load(one("stop: {signal: INT}")).service("a")
        #expect(short.spec.ladder == [Rung(.signal(2, .group))])
        let long = try load(
            one(
                """
                control: true
                stop:
                  - message
                  - {command: "x stop", wait: 1s}
                  - {command: [y], wait: 2s}
                  - {signal: QUIT, to: main, wait: 3s}
                  - {signal: KILL}
                """)
        ).service("a")
        #expect(
            long.spec.ladder == [
                Rung(.message), Rung(.command(0), wait: .seconds(1)),
                Rung(.command(1), wait: .seconds(2)),
                Rung(.signal(3, .main), wait: .seconds(3)), Rung(.signal(9, .tree)),
            ])
        #expect(
            long.stopCommands == [
                [Template(literal: "x"), Template(literal: "stop")], [Template(literal: "y")],
            ])
    }

    @Test("the launch is complete")
    func launch() throws {
        let service = try load(
            one(
                """
                workingDirectory: ./sub//dir
                user: "${WHO}"
                group: 12
                umask: 027
                nice: -5
                isolate: none
                limits: {nofile: 1024, core: unlimited, as: 1GiB, nproc: {soft: 1, hard: unlimited}}
                inheritEnvironment: [PATH]
                output: {file: log/a.log, maxSize: 1MiB, keep: 0, maxLine: 1KiB, separate: true}
                provides: {url: "x", port: {from: ready}}
                reload: USR1
                """), environment: ["WHO": "www"]
        ).service("a")
        #expect(service.launch.workingDirectory == "/project/sub/dir")
        #expect(service.launch.user == "www")
        #expect(service.launch.group == "12")
        #expect(service.launch.umask == 0o27)
        #expect(service.launch.nice == -5)
        #expect(service.launch.isolatesInCgroup == false)
        #expect(service.launch.limits["nofile"] == .init(soft: 1_024, hard: 1_024))
        #expect(service.launch.limits["core"] == .init(soft: nil, hard: nil))
        #expect(service.launch.limits["as"] == .init(soft: 1 << 30, hard: 1 << 30))
        #expect(service.launch.limits["nproc"] == .init(soft: 1, hard: nil))
        #expect(service.launch.environment == [.inherited("PATH")])
        #expect(service.output.file == "/project/log/a.log")
        #expect(service.output.maxBytes == 1 << 20)
        #expect(service.output.keptFiles == 0)
        #expect(service.output.maxLineBytes == 1_024)
        #expect(service.output.separatesErrors)
        #expect(service.provides == ["url": Template(literal: "x"), "port": nil])
        #expect(service.reloadSignal == 10)
    }

    @Test("a service extends another, over the defaults; environments add up")
    func extending() throws {
        let project = try load(
            """
            environment: {P: project, A: project}
            defaults: {stopTimeout: 1s, startTimeout: 7s, environment: {A: default, D: default}}
            services:
              base: {command: [base], stopTimeout: 2s, environment: {A: base, B: base}}
              middle: {extends: base, needs: [base]}
              top: {extends: middle, command: [top], environment: [A=top], needs: [middle]}
            """)
        let top = try project.service("top")
        #expect(top.spec.stopTimeout == .seconds(2))
        #expect(top.spec.startTimeout == .seconds(7))
        #expect(top.launch.command == [Template(literal: "top")])
        #expect(top.spec.needs == [Need("middle")])
        let found = ["P", "A", "B", "D"].map { top.variable($0) }
        #expect(found == ["project", "top", "base", "default"])
        #expect(try project.service("middle").launch.command == [Template(literal: "base")])
    }

    @Test("the example of the manual loads without a warning")
    func example() throws {
        let text = """
            exitBudget: 30s
            services:
              db:
                command: [postgres, -D, data]
                ready: {tcp: 5432}
                stop: {signal: INT}                 # short form of a list of rungs
                provides: {url: "postgres://localhost:5432/app"}
              migrate:
                type: oneshot
                command: ./bin/migrate up
                needs: [db]
              api:
                command: [./bin/api]
                needs: [db, migrate]
                environment: {DATABASE_URL: "${db.url}"}
                ready: notify
                restart:
                  policy: onFailure
                  backoff: {initial: 500ms, max: 30s}
                  limit: {count: 10, window: 5m}
                essential: true
            """
        #expect(problems(text).isEmpty)
        let api = try load(text).service("api")
        #expect(
            api.launch.environment.last
                == .set("DATABASE_URL", Template([.reference("db", key: "url")])))
        #expect(api.spec.restart == RestartPolicy())
    }
}
