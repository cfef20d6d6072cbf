import Manifest
import Stoic
import Testing

@Suite("Messages about a config", .timeLimit(.minutes(1)))
struct DiagnosticTests {
    @Test(
        "CFG-11: a key nobody knows is answered with the word to use",
        arguments: [
            ("depends_on: [b]", "services.a: unknown key \"depends_on\" (use needs)"),
            (
                "stop_grace_period: 1s",
                "services.a: unknown key \"stop_grace_period\" (use stopTimeout)"
            ),
            ("healthcheck: {}", "services.a: unknown key \"healthcheck\" (use ready, or live)"),
            ("env: {}", "services.a: unknown key \"env\" (use environment)"),
            ("cwd: x", "services.a: unknown key \"cwd\" (use workingDirectory)"),
            (
                "ports: x",
                "services.a: unknown key \"ports\" (there are no published ports here)"
            ),
            ("volumes: x", "services.a: unknown key \"volumes\" (there are no volumes here)"),
            (
                "restart: {limit: 3}",
                "services.a.restart.limit: expected a map, found \"3\" "
                    + "(write {count: 3, window: 5m})"
            ),
            (
                "stop: [term]",
                "services.a.stop[0]: expected message, found \"term\" (use {signal: TERM})"
            ),
            (
                "stop: message",
                "services.a.stop: expected a map or a list, found \"message\" (write [message])"
            ),
            (
                "evironment: {}",
                "services.a: unknown key \"evironment\" (did you mean \"environment\"?)"
            ),
            (
                "stoptimeout: 1s",
                "services.a: unknown key \"stoptimeout\" (did you mean \"stopTimeout\"?)"
            ),
            ("quux: 1", "services.a: unknown key \"quux\""),
            (
                "needs: {a: {restart: true}}",
                "services.a.needs: services need each other in a circle: a → a\n"
                    + "services.a.needs.a: unknown key \"restart\" (use onNeedLost: restart)"
            ),
            ("x-mine: {any: [thing]}", ""),
        ])
    func unknownKeys(_ keys: String, _ expected: String) {
        #expect(problemsOfOne(keys) == expected)
    }

    @Test(
        "a value of the wrong type says what was expected and what was found",
        arguments: [
            (
                "essential: yes",
                "services.a.essential: expected true or false, found \"yes\" (write true)"
            ),
            (
                "needs: db",
                "services.a.needs: expected a list or a map, found \"db\" (write [db])"
            ),
            (
                "stop: SIGINT",
                "services.a.stop: expected a map or a list, found \"SIGINT\" (write {signal: INT})"
            ),
            (
                "ready: tcp",
                "services.a.ready: expected started or notify, found \"tcp\" (use {tcp: PORT})"
            ),
            (
                "ready: {log: 'up in \\d+'}",
                "services.a.ready.log: \\d is just the letter d in a POSIX regular expression "
                    + "(write [0-9])"
            ), ("ready: {log: 'up in \\\\d'}", ""),
            ("essential:", "services.a.essential: expected true or false, found nothing"),
            (
                "startAttempts: 0",
                "services.a.startAttempts: expected a whole number from 1 to 1000, found "
                    + "\"0\""
            ),
            ("nice: 20", "services.a.nice: expected a whole number from -20 to 19, found \"20\""),
            (
                "restart: [no]",
                "services.a.restart: expected no, onFailure or always or a map, found a list"
            ),
            (
                "restart: on-failure",
                "services.a.restart: expected no, onFailure or always, found \"on-failure\" "
                    + "(use onFailure)"
            ),
            ("start: automatic", "services.a.start: expected auto or manual, found \"automatic\""),
            (
                "type: onshot",
                "services.a.type: expected service or oneshot, found \"onshot\" (did you "
                    + "mean \"oneshot\"?)"
            ),
            (
                "umask: 0888",
                "services.a.umask: \"0888\" is not a umask (write it in octal, like 022)"
            ),
            ("umask: 22", "services.a.umask: \"22\" is not a umask (write it in octal, like 022)"),
            (
                "startTimeout: 0s",
                "services.a.startTimeout: 0s is too short: it has to be longer than 0s"
            ),
            (
                "stopTimeout: 1e300",
                "services.a.stopTimeout: \"1e300\" is not a duration (write it like 500ms, "
                    + "1m30s or 2h)"
            ),
            (
                "output: {maxSize: 1KiB}",
                "services.a.output.maxSize: 1KiB is not between 4KiB and 1024TiB"
            ),
            (
                "output: {maxSize: 10}",
                "services.a.output.maxSize: \"10\" has no unit (write 10B or 10MiB)"
            ),
            (
                "limits: {nofile: lots}",
                "services.a.limits.nofile: \"lots\" is not a limit (write a number, a size "
                    + "like 64MiB, or unlimited)"
            ),
            (
                "limits: {nofiles: 1}",
                "services.a.limits.nofiles: there is no limit \"nofiles\" (did you mean "
                    + "\"nofile\"?)"
            ),
            ("limits: {nofile: {soft: 1}}", "services.a.limits.nofile: hard is missing"),
            (
                "limits: {core: {soft: 2, hard: 1}}",
                "services.a.limits.core: the soft limit is higher than the hard one"
            ),
            ("user: a:b", "services.a.user: \"a:b\" cannot be a user (write a name or a number)"),
            (
                "group: 4294967295",
                "services.a.group: \"4294967295\" cannot be a group (write a name or a "
                    + "number)"
            ),
            ("reload: KILL", "services.a.reload: KILL cannot be used for this"),
            (
                "environment: {1A: x}",
                "services.a.environment.1A: \"1A\" is not the name of a variable"
            ),
            (
                "environment: [\"A B=1\"]",
                "services.a.environment[0]: \"A B\" is not the name of a variable (write "
                    + "NAME=VALUE)"
            ),
            (
                "inheritEnvironment: [\"A=1\"]",
                "services.a.inheritEnvironment[0]: \"A=1\" is not the name of a variable"
            ),
            (
                "provides: {a-b: x}",
                "services.a.provides.a-b: \"a-b\" cannot be the key of a value (letters, "
                    + "digits and _, not a digit first)"
            ),
            ("workingDirectory: \"\"", "services.a.workingDirectory: expected text, found nothing"),
            (
                "shell: true",
                "services.a.shell: a shell takes its command as text, and command is a list"
            ),
            ("shell: []", "services.a.shell: the list is empty (write shell: true, or [bash, -c])"),
            (
                "restart: {backoff: {initial: 1m}}",
                "services.a.restart.backoff.initial: initial (1m) is longer than max (30s)"
            ),
            (
                "restart: {backoff: {factor: 0.5}}",
                "services.a.restart.backoff.factor: expected a number from 1.0 to 1000.0, "
                    + "found \"0.5\""
            ),
            (
                "restart: {backoff: {factor: nan}}",
                "services.a.restart.backoff.factor: expected a number from 1.0 to 1000.0, "
                    + "found \"nan\""
            ),
            (
                "startTimeoutMax: 1s",
                "services.a.startTimeoutMax: 1s is less than startTimeout, which is 30s"
            ),
        ])
    func values(_ keys: String, _ expected: String) { #expect(problemsOfOne(keys) == expected) }

    @Test(
        "readiness and stops that cannot be are refused",
        arguments: [
            (
                "ready: {}",
                "services.a.ready: expected exactly one kind of readiness, found none "
                    + "(combine them with all: [{…}, {…}] or any: [{…}, {…}])"
            ),
            (
                "ready: {tcp: 1, delay: 1s}",
                "services.a.ready: expected exactly one kind of readiness, found tcp, delay "
                    + "(combine them with all: [{…}, {…}] or any: [{…}, {…}])"
            ),
            ("ready: {all: []}", "services.a.ready.all: all of nothing says nothing"),
            (
                "ready: {tcp: 0}",
                "services.a.ready.tcp: \"0\" is not a port (write 5432, localhost:5432 or "
                    + "[::1]:5432)"
            ),
            (
                "ready: {tcp: \"::1:80\"}",
                "services.a.ready.tcp: \"::1:80\" is not a port (write 5432, localhost:5432 "
                    + "or [::1]:5432)"
            ),
            (
                "ready: {log: \"a(b\"}",
                "services.a.ready.log: \"a(b\" is not a regular expression: Unmatched ( or "
                    + "\\("
            ),
            ("ready: {exec: {timeout: 1s}}", "services.a.ready.exec: command is missing"),
            (
                "ready: sd_notify",
                "services.a.ready: expected started or notify, found \"sd_notify\" (use "
                    + "notify)"
            ),
            (
                "stop: []",
                "services.a.stop: a stop without a rung is SIGKILL at once (say stopTimeout: "
                    + "0s if that is meant)"
            ),
            (
                "stop: {wait: 1s}",
                "services.a.stop: expected one of message, signal and command, found none"
            ),
            (
                "stop: {signal: INT, command: x}",
                "services.a.stop: expected one of message, signal and command, found signal "
                    + "and command"
            ),
            ("stop: {command: x, to: main}", "services.a.stop.to: to is for a signal only"),
            ("stop: {signal: STOP}", "services.a.stop.signal: STOP cannot be used for this"),
            (
                "stop: [{signal: INT, wait: 8s}, {signal: TERM, wait: 3s}]",
                "warning: services.a.stop: the waits add up to 11s, and SIGKILL comes after "
                    + "stopTimeout, 10s"
            ),
            (
                "stop: [message]",
                "warning: services.a.stop[0]: the message reaches a only over its control "
                    + "channel (add control: true)"
            ),
            (
                "environment: {NOTIFY_SOCKET: x}",
                "warning: services.a.environment.NOTIFY_SOCKET: NOTIFY_SOCKET is set by the "
                    + "orchestrator at launch; this value is not used"
            ),
        ])
    func readyAndStop(_ keys: String, _ expected: String) {
        #expect(problemsOfOne(keys) == expected)
    }

    @Test(
        "CFG-15: a descriptor for readiness has to be free in the child",
        arguments: [
            (
                "control: true\nready: {fd: 3}",
                "services.a.ready: descriptor 3 is the control channel's (use 4 or above)"
            ),
            ("ready: {any: [{fd: 5}, {fd: 5}]}", "services.a.ready: descriptor 5 is used twice"),
            (
                "ready: {fd: 64}\nlimits: {nofile: 64}",
                "services.a.ready: descriptor 64 is not below limits.nofile, which is 64"
            ),
            (
                "ready: {fd: 2}",
                "services.a.ready.fd: expected a whole number from 3 to 1023, found \"2\""
            ),
            ("ready: {fd: 3}", ""), ("control: true\nready: {fd: 4}", ""),
        ])
    func descriptors(_ keys: String, _ expected: String) {
        #expect(problemsOfOne(keys) == expected)
    }

    @Test(
        "CFG-19: a key for the other type of service is refused",
        arguments: [
            (
                "timeout: 1s",
                "services.a.timeout: timeout is only for a oneshot, and a is not one (add "
                    + "type: oneshot, or remove timeout)"
            ),
            (
                "type: oneshot\nready: notify",
                "services.a.ready: ready is not for a oneshot, and a is one"
            ),
            (
                "type: oneshot\nwatchdog: 1s",
                "services.a.watchdog: watchdog is not for a oneshot, and a is one"
            ),
            (
                "type: oneshot\nlive: {tcp: 80}",
                "services.a.live: live is not for a oneshot, and a is one"
            ),
            (
                "type: oneshot\nrestart: always",
                "services.a.restart: a oneshot is not restarted after it completed (use "
                    + "onFailure, or type: service)"
            ),
        ])
    func misfits(_ keys: String, _ expected: String) { #expect(problemsOfOne(keys) == expected) }

    @Test("CFG-14: after 100 errors the rest is counted")
    func manyErrors() {
        let services = (0..<130).map { "  s\($0): {command: [x], nope: 1}\n" }.joined()
        let lines = problems("services:\n" + services).split(separator: "\n")
        #expect(lines.count == ConfigError.mostDiagnostics + 1)
        #expect(lines.first == "o.yaml:2:22: services.s0: unknown key \"nope\"")
        #expect(lines.last == "o.yaml: 30 more errors are not listed")
    }

    @Test("an error of the defaults is reported once, and names have rules")
    func projectLevel() {
        #expect(
            problems(
                """
                version: 1
                name: my project
                defaults: {restart: {backoff: {initial: 2m}}}
                services:
                  a: {command: [x]}
                  b: {command: [x]}
                  a/b: {command: [x]}
                  c:
                  d: {needs: [c]}
                """) == """
                    o.yaml:1:1: unknown key "version" (there are no versions here)
                    o.yaml:2:7: name: "my project" cannot be the name of a project (letters, \
                    digits, -, _ and ., at most 64, a letter or a digit first)
                    o.yaml:3:41: defaults.restart.backoff.initial: initial (2m) is longer than \
                    max (30s)
                    o.yaml:7:3: services.a/b: "a/b" cannot be the name of a service (letters, \
                    digits, -, _ and ., at most 64, a letter or a digit first)
                    o.yaml:8:5: services.c: expected a map, found nothing
                    o.yaml:9:3: services.d: command is missing (it is the program to run: [name, …])
                    """)
        #expect(problems("name: x") == "o.yaml:1:1: services is missing")
        #expect(problems("services: {}") == "o.yaml:1:11: services: there is no service in it")
    }

    @Test("CFG-21: two services cannot write one log file")
    func outputFiles() {
        #expect(
            problems(
                """
                services:
                  a: {command: [x], output: {file: logs/x.log}}
                  b: {command: [x], output: {file: ./logs/x.log}}
                """) == "o.yaml:3:29: services.b.output: b would write to the log file of a: "
                + "/project/logs/x.log")
    }
}

@Suite("log files", .timeLimit(.minutes(1)))
struct LogFilePlaceTests {
    @Test("CFG-21: names that lead to one file by links and dots; a device may have many writers")
    func places() {
        #expect(
            problems(
                """
                services:
                  a: {command: [x], output: {file: /tmp/orchestrator-none.log}}
                  b: {command: [x], output: {file: /proc/self/root/tmp/orchestrator-none.log}}
                  c: {command: [x], output: {file: /tmp/../tmp/orchestrator-none.log}}
                  d: {command: [x], output: {file: /dev/null}}
                  e: {command: [x], output: {file: /dev/null}}
                """
            ).split(separator: "\n").count == 2)
    }
}
