import CBench
import Glibc
import Testing

@Suite("Cases: readiness and the notify socket", .timeLimit(.minutes(30)))
@BenchActor
struct NotifyCases {
    @Test("C21: a helper that is gone still makes its service ready, and no other")
    func helperIsGone() async throws {
        try await withBench { bench in
            let rounds = 200
            try bench.config(services: [
                .script(
                    "a", "PUPPET help --notify READY=1 --quit && echo x >>ok; exec sleep 0.02",
                    "ready: notify", "startTimeout: 3s",
                    "restart: {policy: always, backoff: {initial: 0s, max: 0s}, "
                        + "limit: {count: 1000, window: 1h}}"),
                .puppet("b", "", "ready: notify", "startTimeout: 60s"),
            ])
            let up = try bench.up()
            try await bench.wait("all rounds", within: .seconds(120)) {
                $0.read("ok").count >= 2 * rounds
            }
            try await bench.must("down", "a")
            let other = try await bench.run("wait", "b", "--timeout", "50ms")
            #expect(other.ending == .exited(75))
            up.signal(SIGTERM)
            try await bench.end(of: up)
            // The last launch may have been stopped before its helper spoke.
            let sent = bench.all("help", "sent", "READY=1")
            let ready = bench.told("service.ready", "a")
            #expect(ready.count >= sent.count - 1 && ready.count >= rounds)
            for (said, heard) in zip(sent, ready) {
                #expect(heard.milliseconds - said.milliseconds < 1_000)
            }
            let written = bench.read("ok").count / 2
            #expect(written >= rounds && written <= sent.count)
            #expect(bench.told("service.ready", "b").isEmpty)
        }
    }

    @Test(
        "C21, C25: systemd-notify works, and its barrier is answered",
        .enabled(if: Privileges.hasSystemdNotify), arguments: ["", "--no-block"])
    func systemdNotify(flag: String) async throws {
        try await withBench { bench in
            try bench.config(services: [
                .script(
                    "a", "systemd-notify --ready \(flag) && echo x >>ok; exec PUPPET a",
                    "ready: notify", "startTimeout: 3s")
            ])
            let up = try bench.up()
            try await bench.answers()
            for round in 1...8 {
                try await bench.must("wait", "a", "--for", "ready", "--timeout", "5s")
                try await bench.wait("the file", within: .seconds(2)) {
                    $0.read("ok").count == 2 * round
                }
                if round < 8 { try await bench.must("restart", "a") }
            }
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }

    @Test("C22: readiness from another service or a stranger is refused")
    func wrongSender() async throws {
        try await withBench { bench in
            let file = bench.path("path-of-a")
            try bench.config(services: [
                .puppet("a", "--store-notify \(file)", "ready: notify", "startTimeout: 1500ms"),
                .puppet("b", "--notify-to \(file):READY=1"),
            ])
            let up = try bench.up()
            try await bench.saw("a", "stored")
            let socket = bench.read("path-of-a")
            #expect(unsafe cbench_send(socket, "READY=1") == 0)
            let sent = try await bench.saw("b", "sent")
            #expect(try await bench.end(of: up) == .exited(1))
            let said = up.output + up.errors
            #expect(said.contains("\(sent.pid)"), "the refused pid is named\n\(said)")
            #expect(said.contains("\(getpid())"), "the refused pid is named\n\(said)")
            let refused = bench.told("service.messageRefused", "a").map(\.message)
            for pid in [sent.pid, getpid()] {
                #expect(refused.contains { $0.contains("pid \(pid)") }, "\(refused)")
            }
            #expect(bench.told("service.ready", "a").isEmpty)
            let failed = bench.told("service.failed", "a").map(\.message)
            #expect(failed.contains { $0.contains("not ready within 1.5 s") }, "\(failed)")
        }
    }

    @Test("RDY-37: a stranger who writes before the launch is answered is refused")
    func earlyStranger() async throws {
        try await withBench { bench in
            let names = (1...20).map { "s\($0)" }
            try bench.config(
                services: names.map {
                    .puppet(
                        $0, "--store-notify \(bench.path("path-of-\($0)"))", "ready: notify",
                        "startTimeout: 2s", "onStartFailure: keep", "restart: no")
                })
            let up = try bench.up()
            for name in names {
                try await bench.saw(name, "stored")
                #expect(unsafe cbench_send(bench.read("path-of-\(name)"), "READY=1") == 0)
            }
            try await bench.wait("every start to fail", within: .seconds(10)) { bench in
                names.allSatisfy { !bench.told("service.failed", $0).isEmpty }
            }
            for name in names {
                #expect(bench.told("service.ready", name).isEmpty, "\(name)")
                #expect(bench.told("service.messageRefused", name).count == 1, "\(name)")
            }
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }

    @Test("C23: a MAINPID that is not its own is refused")
    func spoofedMainPID() async throws {
        try await withBench { bench in
            let bystander = try bench.bystander()
            try bench.config(services: [.puppet("b")])
            let up = try bench.up()
            let b = try await bench.saw("b", "start")
            try await bench.answers()
            let wrong = [
                "\(bystander.pid)", "1", "0", "-1", "\(up.pid)", "\(b.pid)", "99999999999", "12x",
            ]
            // Refusals are reported at a limited rate: four for each of two services.
            func flags(_ pids: ArraySlice<String>) -> String {
                pids.map { "--mainpid \($0)" }.joined(separator: " ") + " --ready 0"
            }
            try bench.config(services: [
                .puppet("b"), .puppet("a", flags(wrong[..<4]), "ready: notify"),
                .puppet("c", flags(wrong[4...]), "ready: notify"),
            ])
            try await bench.must("reload")
            for name in ["a", "c"] {
                try await bench.must("wait", name, "--for", "ready", "--timeout", "5s")
                let events = try await bench.decisions()
                let refused = events.filter {
                    $0.contains("\"service\":\"\(name)\"") && $0.contains("MAINPID")
                }
                #expect(refused.count == 4, "\(refused)")
                try await bench.must("down", name)
                try await bench.saw(name, "got", "SIGTERM")
            }
            #expect(bench.all("b", "got").isEmpty)
            #expect(bystander.ending == nil)
            #expect(up.ending == nil)
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }

    @Test("C23: a MAINPID of its own is believed, and the stop waits for it")
    func ownMainPID() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet(
                    "a", "--kid plain --notify MAINPID=%k\\nREADY=1 --exit 0.3", "ready: notify",
                    "restart: always")
            ])
            let up = try bench.up()
            let kid = try await bench.saw("a-kid", "start")
            try await bench.saw("a", "exit")
            await bench.watch(for: .milliseconds(800))
            #expect(bench.all("a", "start").count == 1, "the main process still runs")
            #expect(kid.isAlive)
            try await bench.must("down")
            try await bench.saw("a-kid", "got", "SIGTERM")
            #expect(!kid.isAlive)
            try await bench.end(of: up)
        }
    }

    @Test("C24: only READY=1 counts, and nothing malformed does harm")
    func malformed() async throws {
        try await withBench { bench in
            let texts = [
                "", "fill:65536", "\\x00\\x00\\x00", "\\xff\\xfe READY=1", "READY=11", "ready=1",
                "X READY=1", "READY=1 ", " READY=1", "READY=", "WATCHDOG_USEC=-1",
                "WATCHDOG_USEC=123456789012345678901234567890", "STATUS=\\xe2\\x82",
                "STATUS=" + String(repeating: "x", count: 4_087) + "\\xe2\\x82",
                "EXTEND_TIMEOUT_USEC=-5", "=\\n=\\n\\n", "BARRIER=1", "FDSTORE=1",
            ]
            let flags = texts.flatMap { ["--notify", $0] } + ["--ready", "1.2"]
            try bench.config(services: [
                .puppet("a", flags: flags, "ready: notify", "startTimeout: 10s")
            ])
            let up = try bench.up()
            try await bench.saw("a", "sent", "FDSTORE=1")
            try await bench.answers()
            let before = ProcessTable.descriptorCount(of: up.pid)
            let wait = try bench.start(Launch(bench.arguments(["wait", "a", "--timeout", "5s"])))
            // "READY=11", "READY=1 " and " READY=1" came before it.
            let sent = try await bench.saw("a", "sent", "READY=1", count: 4)
            #expect(try await bench.end(of: wait) == .exited(0))
            // By the engine's own stamp: how long a client's exit takes is the machine's affair.
            // A puppet says that it sent something right after it did.
            let ready = try #require(bench.told("service.ready", "a").first)
            #expect(ready.milliseconds - sent.milliseconds < 100)
            #expect(ready.milliseconds - sent.milliseconds > -100, "nothing before it counted")
            await bench.watch(for: .milliseconds(100))
            #expect(ProcessTable.descriptorCount(of: up.pid) <= before)
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }

    @Test("C25: barriers are answered, early and late, and cost no descriptor")
    func barriers() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet(
                    "a",
                    "--notify READY=1 --notify READY=1 --barriers 1 --pause 0.5 --barriers 1000 "
                        + "--store done",
                    "ready: notify"),
                .puppet("plain", "--notify-fd STATUS=x --barriers 1"),
            ])
            let up = try bench.up()
            try await bench.saw("a", "barrier-passed")
            try await bench.answers()
            let before = ProcessTable.descriptorCount(of: up.pid)
            try await bench.saw("a", "stored", within: .seconds(60))
            await bench.watch(for: .milliseconds(100))
            #expect(ProcessTable.descriptorCount(of: up.pid) <= before)
            #expect(bench.all("a", "barrier-passed").count == 1_001)
            for event in bench.all("a", "barrier-passed") {
                #expect(Int(event.extra) ?? 9_999 < 500)
            }
            #expect(bench.all("a", "barrier-timeout").isEmpty)
            #expect(bench.all("plain", "barrier-timeout").isEmpty)
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }

    @Test("C26: nothing of an outer manager reaches a service")
    func outerManager() async throws {
        try await withBench { bench in
            let outer = bench.path("outer")
            let socket = unsafe cbench_listen(outer)
            #expect(socket >= 0)
            defer { close(socket) }
            try bench.config(services: [
                .puppet("a", "--print-env env-a --notify STOPPING=1"),
                .puppet(
                    "p", "",
                    "ready: {exec: [\(bench.identity.puppet), probe, --print-env, env-p, "
                        + "--notify, STOPPING=1, --quit]}"),
            ])
            let up = try bench.up {
                $0.environment = [
                    "NOTIFY_SOCKET": outer, "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1",
                    "LISTEN_FDS": "2", "LISTEN_PID": "1", "LISTEN_FDNAMES": "x",
                ]
            }
            try await bench.saw("a", "copied")
            try await bench.saw("probe", "quit")
            await bench.watch(for: .milliseconds(200))
            #expect(up.ending == nil, "a child's STOPPING=1 is not the orchestrator's")
            for file in ["env-a", "env-p"] {
                let bytes = TextFile.bytes(bench.path(file)) ?? []
                let names = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
                #expect(!names.isEmpty)
                #expect(!names.contains("NOTIFY_SOCKET=" + outer))
                for name in ["WATCHDOG_USEC=3", "WATCHDOG_PID=1", "LISTEN_"] {
                    #expect(!names.contains { $0.hasPrefix(name) && $0 != "WATCHDOG_PID=1x" })
                }
            }
            var bytes = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = unsafe recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
                guard count > 0 else { break }
                #expect(!String(decoding: bytes[..<count], as: UTF8.self).contains("STOPPING=1"))
            }
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }
}
