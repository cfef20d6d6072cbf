import CBench
import Glibc
import Testing

@Suite("Cases: mishaps of the host", .timeLimit(.minutes(30)))
@BenchActor
struct MishapCases {
    @Test("a probe that is slower to launch than its timeout is ended too")
    func probeBound() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet(
                    "a", "", "ready: {exec: {command: [sleep, '600'], timeout: 1ms}}",
                    "startTimeout: 30s")
            ])
            let up = try bench.up()
            try await bench.saw("a", "start")
            try await bench.answers()
            var isEnded = false
            for _ in 0..<50 where !isEnded {
                isEnded = try await bench.run("status").output.contains("took longer than 1 ms")
            }
            #expect(isEnded)
            try await bench.must("down")
            try await bench.end(of: up)
        }
    }

    @Test("what was removed of the runtime directory is made again, and the engine is found")
    func runtimeDirectory() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a", "--ready 0", "ready: notify")])
            let up = try bench.up()
            try await bench.must("wait", "a", "--for", "ready")
            for name in Scratch.files(under: bench.path("run")) { Scratch.remove(name) }
            Scratch.remove(bench.path("run") + "/orchestrator")
            try await bench.answers()
            try await bench.must("restart", "a")
            try await bench.must("down")
            try await bench.end(of: up)
        }
    }

    @Test("PRC-36: isolate: cgroup is a failure where there is no cgroup to be had")
    func noCgroup() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a", "", "isolate: cgroup")])
            let up = try bench.up()
            let ending = try await bench.end(of: up)
            // An ordinary user has no cgroup tree to write to, unless somebody delegated one.
            guard bench.all("a", "start").isEmpty else { return }
            #expect(ending == .exited(1))
            #expect(up.errors.contains("isolate: cgroup"), "\(up.errors)")
        }
    }

    @Test("C46: a service that became ready while we stood still is found ready")
    func stoodStill() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet(
                    "a", "--pause 0.5 --store made", "ready: {file: made}", "startTimeout: 2s"),
                .puppet("b", "--beat 0.2"),
            ])
            let up = try bench.up()
            try await bench.saw("a", "start")
            up.signal(SIGSTOP)
            try await bench.wait("four seconds") { $0.all("b", "beat").count > 20 }
            up.signal(SIGCONT)
            try await bench.must("wait", "a", "--for", "ready", "--timeout", "10s")
            try await bench.must("down")
            try await bench.end(of: up)
        }
    }
}
