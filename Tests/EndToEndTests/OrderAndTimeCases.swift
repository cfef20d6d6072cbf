import Glibc
import Testing

@Suite("Cases: order and time", .timeLimit(.minutes(30)))
@BenchActor
struct OrderAndTimeCases {
    @Test("C12: stops go in reverse of the order things became ready, and wait for each other")
    func reverseOrder() async throws {
        try await withBench { bench in
            let flags = "--ready 0.1 --term slow:0.4"
            try bench.config(services: [
                .puppet("a", flags, "ready: notify"),
                .puppet("b", flags, "ready: notify", "needs: [a]"),
                .puppet("c", flags, "ready: notify", "needs: [b]"),
                .puppet("d", "--ready 1.5 --term slow:0.4", "ready: notify"),
            ])
            let up = try bench.up()
            for name in ["a", "b", "c", "d"] { try await bench.saw(name, "sent", "READY=1") }
            try await bench.must("wait", "d", "--for", "ready")
            let down = try await bench.must("down")
            #expect(try await bench.end(of: up) == .exited(0))
            let order = bench.events.filter { ["got", "bye"].contains($0.event) }.map {
                "\($0.name) \($0.event)"
            }
            #expect(
                order == [
                    "d got", "d bye", "c got", "c bye", "b got", "b bye", "a got", "a bye",
                ])
            let took = try #require(down.ended) - down.begun
            #expect(took > .milliseconds(1_500) && took < .milliseconds(2_600), "\(took)")
        }
    }

    @Test("C12: parallel stops keep the order of needs only")
    func parallelOrder() async throws {
        try await withBench { bench in
            try bench.config(
                "stopOrder: parallel",
                services: [
                    .puppet("a", "--term slow:0.4"),
                    .puppet("b", "--term slow:0.4", "needs: [a]"),
                    .puppet("c", "--term slow:0.4", "needs: [a]"),
                ])
            let up = try bench.up()
            for name in ["b", "c"] { try await bench.saw(name, "start") }
            up.signal(SIGTERM)
            #expect(try await bench.end(of: up) == .exited(0))
            let first = try await bench.saw("a", "got", "SIGTERM").milliseconds
            for name in ["b", "c"] {
                #expect(try await bench.saw(name, "bye").milliseconds <= first)
            }
            let apart =
                try await bench.saw("b", "got").milliseconds
                - bench.saw("c", "got").milliseconds
            #expect(abs(apart) < 200)
        }
    }

    @Test("C13: the stop of everything fits the exit budget")
    func budget() async throws {
        try await withBench { bench in
            let names = (1...12).map { "s\($0)" }
            let services = names.enumerated().map { index, name in
                index == 0
                    ? Service.puppet(name, "--term ignore", "stopTimeout: 10s")
                    : .puppet(
                        name, "--term ignore", "stopTimeout: 10s", "needs: [\(names[index - 1])]")
            }
            try bench.config("exitBudget: 9s", services: services)
            let up = try bench.up()
            try await bench.saw("s12", "start")
            try await bench.answers()
            let down = try await bench.run("down")
            let took = try #require(down.ended) - down.begun
            try await bench.end(of: up)
            // A machine that stands still for seconds is given them: the engine says so.
            let stoodStill = bench.journal.contains { $0.name == "liveness.paused" }
            #expect(took < .seconds(stoodStill ? 20 : 10), "\(took)\n\(bench.story)")
            let asked = bench.events.filter { $0.extra.hasPrefix("SIGTERM") }.map(\.name)
            #expect(asked == names.reversed())
            for name in names {
                #expect(bench.told("service.killed", name).count == 1, "\(name) was cut short")
            }
        }
    }

    @Test(
        "C14: absent, zero and odd stop timeouts",
        arguments: [
            ("", "bye"), ("stopTimeout: 0s", "killed"), ("stopTimeout: 1ms", "killed"),
            ("stopTimeout: 2s", "bye"), ("stopTimeout: -1", "refused"),
            ("stopTimeout: -1s", "refused"), ("stopTimeout: abc", "refused"),
            ("stopTimeout: 1e300", "refused"), ("stopTimeout: 1e300s", "refused"),
            ("stopTimeout: 9223372036854775807s", "refused"), ("stopTimeout:", "refused"),
        ])
    func oddTimeouts(key: String, result: String) async throws {
        try await withBench { bench in
            try bench.config(services: [.puppet("a", "--term slow:0.4", key)])
            let up = try bench.up()
            if result == "refused" {
                #expect(try await bench.end(of: up) == .exited(78))
                #expect(up.errors.contains("stopTimeout"))
                #expect(bench.events.isEmpty)
                return
            }
            try await bench.saw("a", "start")
            try await bench.answers()
            try await bench.must("down")
            try await bench.end(of: up)
            #expect(bench.all("a", "bye").isEmpty == (result == "killed"))
        }
    }
}
