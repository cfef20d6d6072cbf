import CBench
import Glibc
import Testing

@Suite("Cases: readiness probes", .timeLimit(.minutes(30)))
@BenchActor
struct ProbeCases {
    @Test("C27: probes that hang do not pile up, and their whole group goes with them")
    func hangingProbes() async throws {
        try await withBench { bench in
            let probe = "[\(bench.identity.puppet), probe, --kid, stubborn, --term, ignore]"
            try bench.config(
                "onStartFailure: keep",
                services: [
                    .puppet(
                        "a", "", "ready: {exec: {command: \(probe), timeout: 300ms}}",
                        "startTimeout: 4s"),
                    .puppet("b"),
                ])
            let up = try bench.up()
            var mostAtOnce = 0
            try await bench.wait("the service to fail", within: .seconds(20)) { bench in
                let living = bench.all("probe", "start").count(where: \.isAlive)
                mostAtOnce = max(mostAtOnce, living)
                return !bench.told("service.failed", "a").isEmpty
            }
            #expect(mostAtOnce <= 1, "\(mostAtOnce) probes at once\n\(bench.story)")
            let starts = bench.all("probe", "start")
            #expect(starts.count >= 4, "\(bench.story)")
            for (one, next) in zip(starts, starts.dropFirst()) {
                // The next begins after the end of the one before, kids and all.
                #expect(next.milliseconds - one.milliseconds >= 300)
            }
            let failure = bench.told("service.failed", "a").first?.message ?? ""
            #expect(failure.contains("took longer than 300 ms"), "\(failure)")
            // The one that ran when the service failed is ended then.
            try await bench.wait("the end of every probe", within: .seconds(5)) { bench in
                let all = bench.all("probe-kid", "start") + bench.all("probe", "start")
                return !all.contains { $0.isAlive }
            }
            let begun = Moment.now
            try await bench.must("down")
            #expect(Moment.now - begun < .seconds(2))
            try await bench.end(of: up)
            #expect(bench.all("b", "bye").count == 1)
        }
    }

    @Test("C27: a stop ends a probe that hangs")
    func stopInProbe() async throws {
        try await withBench { bench in
            let probe = "[\(bench.identity.puppet), probe, --kid, setsid, --term, ignore]"
            try bench.config(services: [
                .puppet(
                    "a", "", "ready: {exec: {command: \(probe), timeout: 60s}}",
                    "startTimeout: 60s")
            ])
            let up = try bench.up()
            let kid = try await bench.saw("probe-kid", "start")
            let begun = Moment.now
            up.signal(SIGTERM)
            try await bench.end(of: up)
            #expect(Moment.now - begun < .seconds(3))
            #expect(!kid.isAlive)
        }
    }

    @Test("C27, RDY-38: liveness probes that hang do not pile up, and the service is started again")
    func hangingLiveness() async throws {
        try await withBench { bench in
            let probe = "[\(bench.identity.puppet), probe, --kid, stubborn, --term, ignore]"
            try bench.config(services: [
                .puppet(
                    "a", "",
                    "live: {exec: \(probe), interval: 200ms, timeout: 500ms, threshold: 3}"),
                .puppet("b"),
            ])
            let up = try bench.up()
            var mostAtOnce = 0
            try await bench.wait("two failures of the service", within: .seconds(30)) { bench in
                let living = bench.all("probe", "start").count(where: \.isAlive)
                mostAtOnce = max(mostAtOnce, living)
                return bench.told("service.failed", "a").count >= 2
            }
            #expect(mostAtOnce == 1, "\(mostAtOnce) probes at once\n\(bench.story)")
            #expect(bench.all("a", "bye").count >= 1, "asked to stop, not killed\n\(bench.story)")
            let failure = bench.told("service.failed", "a").first?.message ?? ""
            #expect(failure.contains("3 liveness probes failed"), "\(failure)")
            #expect(failure.contains("took longer than 500 ms"), "\(failure)")
            let counted = bench.told("service.probeFailed", "a").map(\.message)
            #expect(counted.first?.contains("(1 of 3)") == true, "\(counted)")
            #expect(bench.told("service.failed", "b").isEmpty)
            let begun = Moment.now
            try await bench.must("down")
            #expect(Moment.now - begun < .seconds(3))
            try await bench.end(of: up)
            let left = bench.all("probe-kid", "start") + bench.all("probe", "start")
            #expect(!left.contains { $0.isAlive }, "\(bench.story)")
        }
    }

    @Test("C27, RDY-39: a stop ends a liveness probe that hangs, and does not wait for it")
    func stopInLivenessProbe() async throws {
        try await withBench { bench in
            let probe = "[\(bench.identity.puppet), probe, --kid, setsid, --term, ignore]"
            try bench.config(services: [
                .puppet("a", "", "live: {exec: \(probe), interval: 100ms, timeout: 60s}")
            ])
            let up = try bench.up()
            let kid = try await bench.saw("probe-kid", "start")
            let begun = Moment.now
            up.signal(SIGTERM)
            try await bench.end(of: up)
            #expect(Moment.now - begun < .seconds(3))
            #expect(!kid.isAlive)
        }
    }

    @Test("RDY-43: C27: a liveness probe during which we stood still is not held against anybody")
    func pausedLiveness() async throws {
        try await withBench { bench in
            // It would take longer than it may, and nobody sees that it is killed in time.
            let probe = "[\(bench.identity.puppet), probe, --kid, stubborn, --term, ignore]"
            try bench.config(services: [
                .puppet(
                    "a", "", "live: {exec: \(probe), interval: 100ms, timeout: 1s, threshold: 1}")
            ])
            let up = try bench.up()
            try await bench.saw("probe", "start")
            up.signal(SIGSTOP)
            await bench.watch(for: .seconds(4))
            up.signal(SIGCONT)
            try await bench.wait("word of the probe", within: .seconds(10)) { bench in
                !bench.told("service.probeNotRun", "a").isEmpty
            }
            let words = bench.told("service.probeNotRun", "a").first?.message ?? ""
            #expect(words.contains("we stood still"), "\(words)")
            let before = bench.told("service.probeNotRun", "a").count
            #expect(before == 1 && bench.told("service.failed", "a").count <= 1)
            try await bench.must("down")
            try await bench.end(of: up)
        }
    }

    @Test("C27, RDY-42: a liveness probe that does not exist ends nobody, and is said once")
    func missingLiveness() async throws {
        try await withBench { bench in
            try bench.config(services: [
                .puppet("a", "", "live: {exec: [/no/such], interval: 50ms, threshold: 1}")
            ])
            let up = try bench.up()
            try await bench.poll("status") { $0.contains("/no/such") }
            await bench.watch(for: .seconds(1))
            #expect(bench.told("service.probeNotRun", "a").count == 1, "\(bench.story)")
            #expect(bench.told("service.failed", "a").isEmpty, "\(bench.story)")
            try await bench.must("down")
            try await bench.end(of: up)
        }
    }

    @Test("C27: a reload that adds a liveness probe launches the service with it")
    func reloadedLiveness() async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a"), .puppet("b")])
            let up = try bench.up()
            try await bench.saw("b", "start")
            try bench.config(services: [
                .puppet("a", "", "live: {exec: [test, -e, alive], interval: 50ms, threshold: 2}"),
                .puppet("b"),
            ])
            try bench.write("x", to: "alive")
            try await bench.must("reload")
            try await bench.saw("a", "start", count: 2)
            #expect(bench.all("b", "start").count == 1)
            #expect(unsafe unlink(bench.path("alive")) == 0)
            try await bench.wait("its failure", within: .seconds(10)) { bench in
                !bench.told("service.failed", "a").isEmpty
            }
            try bench.config(services: [.puppet("a"), .puppet("b")])
            try await bench.must("reload")
            let failures = bench.told("service.failed", "a").count
            await bench.watch(for: .seconds(1))
            #expect(bench.told("service.failed", "a").count == failures, "\(bench.story)")
            try await bench.must("down")
            try await bench.end(of: up)
        }
    }

    @Test("C27: a port that nobody opens costs one socket at a time, and none afterwards")
    func closedPort() async throws {
        try await withBench { bench in
            let port = cbench_free_port()
            try bench.config(services: [
                .puppet("a", "", "ready: {tcp: '127.0.0.1:\(port)'}", "startTimeout: 60s")
            ])
            let up = try bench.up()
            try await bench.saw("a", "start")
            try await bench.poll("status") { $0.contains("nobody listens there") }
            let before = bench.holdings(of: up)
            var most = before
            for _ in 0..<20 {
                await bench.watch(for: .milliseconds(50))
                most = max(most, bench.holdings(of: up))
            }
            // A probe and whoever asks for the status.
            #expect(most <= before + 2, "\(most) after \(before)")
            try await bench.must("down")
            try await bench.end(of: up)
        }
    }
}
