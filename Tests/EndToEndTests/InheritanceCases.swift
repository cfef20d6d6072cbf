import CBench
import Glibc
import Testing

@Suite("Cases: what children inherit", .timeLimit(.minutes(30)))
@BenchActor
struct InheritanceCases {
    @Test("C34: no child inherits blocked or ignored signals")
    func signals() async throws {
        try await withBench { bench in
            let puppet = bench.identity.puppet
            try bench.config(services: [
                .puppet("m", "--print-status --quit", "type: oneshot"),
                .puppet(
                    "a", "--print-status", "needs: [m]",
                    "ready: {exec: [\(puppet), probe, --print-status, --quit]}",
                    "stop: [{command: [\(puppet), hook, --print-status, --quit]}, {signal: TERM}]"),
                .script("p", "yes | head -1", "type: oneshot", "timeout: 5s"),
            ])
            let up = try bench.up {
                $0.ignored = [SIGPIPE, SIGINT, SIGQUIT]
                $0.blocked = [SIGTERM, SIGUSR1]
            }
            for name in ["m", "a", "probe"] { try await bench.saw(name, "status") }
            try await bench.must("wait", "p", "--for", "completed", "--timeout", "5s")
            up.signal(SIGTERM)
            #expect(try await bench.end(of: up) == .exited(0))
            for name in ["m", "a", "probe", "hook"] {
                let status = try await bench.saw(name, "status")
                let blocked = UInt64(status.value("SigBlk") ?? "", radix: 16)
                let ignored = try #require(UInt64(status.value("SigIgn") ?? "", radix: 16))
                #expect(blocked == 0, "\(name)")
                for signal in [SIGPIPE, SIGTERM, SIGQUIT] {
                    #expect(ignored & 1 << UInt64(signal - 1) == 0, "\(name): \(signal)")
                }
            }
        }
    }

    @Test(
        "C35: no descriptor leaks into a service or stays with us", arguments: [3, 250] as [CInt])
    func descriptors(number: CInt) async throws {
        try await withBench { bench in
            var ends: [CInt] = [-1, -1]
            #expect(unsafe cbench_pipe(&ends) == 0)
            let services = (1...100).map { number in
                let flags = number == 1 || number == 100 ? "--list-fds" : ""
                return number == 1
                    ? Service.puppet("s1", flags)
                    : .puppet("s\(number)", flags, "needs: [s\(number - 1)]")
            }
            try bench.config(services: services)
            let up = try bench.up { $0.extra = (from: ends[1], to: number) }
            close(ends[1])
            defer { close(ends[0]) }
            var pipes: Set<Substring> = []
            for name in ["s1", "s100"] {
                let words = try await bench.saw(name, "fds").extra.split(separator: " ")
                // The puppet's own descriptors of its loop are no inheritance.
                let held = words.filter { !$0.contains("anon_inode") }.map {
                    $0.prefix { $0 != "=" }
                }
                #expect(held.sorted() == ["0", "1", "2"], "\(name): \(words)")
                #expect(words.contains("0=/dev/null"))
                let pipe = try #require(words.first { $0.hasPrefix("1=pipe:") })
                #expect(pipes.insert(pipe).inserted, "each has a pipe of its own")
            }
            var watched = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            let hungUp = unsafe poll(&watched, 1, 0)
            #expect(hungUp == 1, "the caller's pipe is at its end although services live")
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }

    @Test(
        "C36: works with closed standard descriptors",
        arguments: [[0], [1], [2], [0, 1, 2]] as [Set<Int>])
    func closedStandard(_ closed: Set<Int>) async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet("a", "--say hello\\n --list-fds", "output: {file: a.log}")
            ])
            let up = try bench.up { $0.closed = closed }
            try await bench.saw("a", "fds")
            try await bench.wait("the log") { $0.read("a.log") == "hello\n" }
            try await bench.must("down")
            #expect(try await bench.end(of: up) == .exited(0))
        }
    }

    @Test("C37: a service may reopen its output by name")
    func reopensOutput() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .script(
                    "a",
                    "echo one >/dev/stdout; echo two >/dev/stderr; echo three >/proc/self/fd/1",
                    "type: oneshot", "output: {file: a.log}")
            ])
            let up = try bench.up()
            #expect(try await bench.end(of: up) == .exited(0))
            #expect(bench.read("a.log") == "one\ntwo\nthree\n")
        }
    }

    @Test("C38: no service reaches the terminal, and nothing is stopped by it")
    func terminal() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet("a", "--read-stdin"), .puppet("b", "--open-tty"), .puppet("c"),
            ])
            let up = try bench.up {
                $0.isOnTerminal = true
                $0.stopsBackgroundOutput = true
            }
            try await bench.saw("a", "stdin-eof")
            try await bench.saw("b", "tty-failed")
            let c = try await bench.saw("c", "start")
            for _ in 0..<10 {
                for event in bench.events where event.event == "start" {
                    #expect(ProcessTable.row(event.pid)?.state != "T")
                }
                #expect(ProcessTable.row(up.pid)?.state != "T")
                await bench.watch(for: .milliseconds(50))
            }
            #expect(c.isAlive)
            up.signal(SIGTERM)
            try await bench.end(of: up)
        }
    }

    @Test("C38: up in the background of a terminal keeps running")
    func background() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a", "--flood 20 --read-stdin")])
            let script = "set -m; \(bench.identity.orchestrator) up & wait"
            var launch = Launch(["/bin/sh", "-c", script])
            launch.isOnTerminal = true
            launch.stopsBackgroundOutput = true
            let shell = try bench.start(launch)
            try await bench.saw("a", "stdin-eof")
            await bench.watch(for: .milliseconds(500))
            let inside = ProcessTable.children(of: shell.pid)
            let engine = try #require(inside.first { $0.name == "orchestrator" })
            #expect(engine.state != "T")
            try await bench.answers()
            try await bench.must("down")
            try await bench.end(of: shell)
        }
    }

    @Test("C39: out of descriptors, the service that cannot start is named")
    func fewDescriptors() async throws {
        try await withBench { bench in
            let services = (1...30).map { Service.puppet("s\($0)", "", "control: true") }
            try bench.config(services: services)
            let up = try bench.up { $0.descriptors = 40 }
            #expect(try await bench.end(of: up) == .exited(1))
            let failed = bench.journal.filter { $0.name == "service.failed" }
            #expect(!failed.isEmpty)
            for failure in failed { #expect(failure.message.contains("file descriptors")) }
            let name = try #require(failed.first?.service)
            let said = (up.output + up.errors).split(separator: "\n")
            #expect(
                said.contains { $0.contains(name) && $0.contains("file descriptors") }, "\(said)")
            for start in bench.events where start.event == "start" { #expect(!start.isAlive) }
        }
    }

    @Test("PRC-42: out of descriptors (C39), status and down still work")
    func fewDescriptorsAndControl() async throws {
        try await withBench { bench in
            let services = (1...30).map {
                Service.puppet("s\($0)", "", "control: true", "onStartFailure: keep", "restart: no")
            }
            try bench.config(services: services)
            let up = try bench.up { $0.descriptors = 40 }
            try await bench.wait("a start that fails", within: .seconds(5)) {
                $0.journal.contains { $0.name == "service.failed" }
            }
            let status = try await bench.must("status")
            #expect(status.output.contains("file descriptors"), "\(status.output)")
            try await bench.must("down")
            #expect(try await bench.end(of: up) == .exited(1))
        }
    }

    @Test("C39: hundreds of failed starts leave no descriptor, no memory and no zombie")
    func failedStarts() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .command(
                    "a", ["/no/such"], "onStartFailure: keep",
                    "restart: {policy: always, backoff: {initial: 5ms, max: 5ms}, "
                        + "limit: {count: 200, window: 5m}}"),
                .puppet("b"),
            ])
            let up = try bench.up()
            try await bench.saw("b", "start")
            try await bench.answers()
            let before = ProcessTable.descriptorCount(of: up.pid)
            let memory = ProcessTable.residentKilobytes(of: up.pid)
            try await bench.poll("status", "a", within: .seconds(20)) { $0.contains("gave up") }
            #expect(ProcessTable.descriptorCount(of: up.pid) <= before)
            #expect(ProcessTable.residentKilobytes(of: up.pid) - memory < 8_000)
            #expect(ProcessTable.children(of: up.pid).count { $0.state == "Z" } == 0)
            let why = try await bench.must("why", "a")
            #expect(why.output.contains("/no/such"))
            let failures = bench.told("service.failed", "a").map(\.message)
            #expect(failures.count == 201, "the first start and 200 more: \(failures.count)")
            for failure in failures {
                #expect(failure.contains("cannot run /no/such: there is no such file or directory"))
            }
            up.signal(SIGTERM)
            #expect(try await bench.end(of: up) == .exited(1))
        }
    }

    @Test(
        "C39: what cannot run is told apart",
        arguments: [
            ("plain", "ermission denied"), ("folder", "folder"),
            ("no-interpreter", "not a program"), ("missing-directory", "missing"),
        ])
    func spawnFailures(what: String, says: String) async throws {
        try await withBench { bench in
            try bench.write("#!/bin/sh\n", to: "plain", mode: 0o644)
            try bench.write("no interpreter\n", to: "no-interpreter", mode: 0o755)
            try Scratch.makeFolder(bench.path("folder"), owner: bench.identity)
            let a: Service =
                what == "missing-directory"
                ? .command("a", ["true"], "workingDirectory: missing")
                : .command("a", ["./" + what])
            try bench.config(services: [a])
            let up = try bench.up()
            let ending = try await bench.end(of: up)
            #expect([.exited(1), .exited(78)].contains(ending))
            let said = (up.output + up.errors).lowercased()
            #expect(said.contains(says.lowercased()), "\(said)")
            #expect(said.contains("cannot"))
        }
    }
}
