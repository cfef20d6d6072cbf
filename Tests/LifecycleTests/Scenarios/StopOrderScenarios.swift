import Simulation
import Testing

@testable import Stoic

@Suite("LifecycleMachine, the order and budget of stops", .timeLimit(.minutes(1)))
struct StopOrderScenarios {
    static let slow = Behaviour {
        $0.ready = .milliseconds(200)
        $0.term = .seconds(1)
    }

    @Test(
        "LIF-40: the one that became ready last stops first, each only when the one before is gone")
    func latestReadyFirst() {
        var stage = Stage(
            chain(["a", "b", "c"]) + [spec("d")],
            behaviours: [
                "a": Self.slow, "b": Self.slow, "c": Self.slow,
                "d": Behaviour {
                    $0.ready = .seconds(2)
                    $0.term = .seconds(1)
                },
            ])
        stage.up()
        stage.run(for: .seconds(10))
        stage.stopProject()
        stage.runOut()
        #expect(
            stage.log(since: "project stopping") == [
                "10000 project stopping",
                "10000 d stop", "10000 d signal 15 group", "11000 d stopped",
                "11000 c stop", "11000 c signal 15 group", "12000 c stopped",
                "12000 b stop", "12000 b signal 15 group", "13000 b stopped",
                "13000 a stop", "13000 a signal 15 group", "14000 a stopped",
                "14000 project ended",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-40: what counts is the latest start, not the first")
    func latestStart() {
        var stage = Stage(
            [spec("a"), spec("b")],
            behaviours: [
                "a": Behaviour { $0.exits = [.init(after: .seconds(1), status: .code(1)), nil] }
            ])
        stage.up()
        stage.run(for: .seconds(10))
        stage.stopProject()
        stage.runOut()
        let order = stage.log(since: "project stopping").filter { $0.hasSuffix(" stop") }
        #expect(order == ["10000 a stop", "10000 b stop"])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-41: services that have not become ready are stopped first, all together")
    func notReadyFirst() {
        var stage = Stage(
            [spec("a"), spec("b"), spec("c")],
            behaviours: [
                "a": Behaviour {
                    $0.ready = nil
                    $0.term = .seconds(1)
                },
                "b": Behaviour { $0.term = .seconds(1) },
                "c": Behaviour {
                    $0.ready = nil
                    $0.term = .seconds(2)
                },
            ])
        stage.up()
        stage.run(for: .seconds(1))
        stage.stopProject()
        stage.runOut()
        let stops = stage.log(since: "project stopping").filter { $0.hasSuffix(" stop") }
        #expect(stops == ["1000 c stop", "1000 a stop", "3000 b stop"])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-42: with stopOrder parallel each stops as soon as nothing that needs it is left")
    func parallel() {
        var stage = Stage(
            [spec("a"), spec("b", needs: ["a"]), spec("c", needs: ["a"]), spec("d")],
            parallel: true,
            behaviours: [
                "b": Behaviour { $0.term = .seconds(1) }, "c": Behaviour { $0.term = .seconds(3) },
                "d": Behaviour { $0.term = .seconds(5) },
            ])
        stage.up()
        stage.run(for: .seconds(1))
        stage.stopProject()
        stage.runOut()
        let stops = stage.log(since: "project stopping").filter { $0.hasSuffix(" stop") }
        #expect(Set(stops) == ["1000 b stop", "1000 c stop", "1000 d stop", "4000 a stop"])
        #expect(stage.elapsed == .seconds(6))
        #expect(stage.host.violations == [])
    }

    @Test(
        "LIF-43: twelve services that hang, 15 s: in order, gone in time, each with its SIGTERM"
    )
    func budget() {
        let names = (0..<12).map { ServiceName("s\($0)") }
        var stage = Stage(
            chain(names), exitBudget: .seconds(15),
            behaviours: Dictionary(uniqueKeysWithValues: names.map { ($0, Behaviour.stubborn) }))
        stage.up()
        stage.run(for: .seconds(1))
        stage.stopProject()
        stage.runOut()
        let stops = stage.log.filter { $0.hasSuffix(" stop") }.map { $0.split(separator: " ")[1] }
        #expect(stops == names.reversed().map { Substring($0.text) })
        #expect(stage.log.count { $0.hasSuffix(" signal 15 group") } == 12)
        #expect(stage.log.count { $0.hasSuffix(" killed") } == 12)
        #expect(stage.elapsed <= .seconds(16))
        #expect(!stage.log.contains { $0.hasSuffix("budget exceeded") })
        #expect(stage.outcome?.abandoned == [])
        #expect(stage.host.violations == [])
    }

    @Test(
        "LIF-43: whatever hangs, and even outlives SIGKILL, the whole stop fits the budget",
        arguments: [1, 2, 5, 12, 40], [0, 1, 15, 300])
    func budgetWithImmortals(services: Int, seconds: Int) {
        let names = (0..<services).map { ServiceName("s\($0)") }
        for parallel in [false, true] {
            var stage = Stage(
                chain(names), exitBudget: .seconds(seconds), parallel: parallel,
                behaviours: Dictionary(uniqueKeysWithValues: names.map { ($0, .immortal) }))
            stage.up()
            stage.run(for: .seconds(1))
            stage.stopProject()
            stage.runOut()
            let limit = Duration.seconds(1 + seconds) + LifecycleMachine.leastKillWait
            #expect(stage.elapsed <= limit)
            #expect(stage.outcome?.abandoned.count == services)
            #expect(stage.host.violations == [])
        }
    }

    @Test("LIF-44: one hung service never takes more than half of what is left; the rest is free")
    func half() {
        var stage = Stage(
            [spec("a"), spec("b") { $0.stopTimeout = .seconds(60) }], exitBudget: .seconds(20),
            behaviours: [
                "a": Behaviour { $0.ready = .zero },
                "b": Behaviour {
                    $0.ready = .seconds(1)
                    $0.term = nil
                },
            ])
        stage.up()
        stage.run(for: .seconds(2))
        stage.stopProject()
        stage.runOut()
        // 20 s, of which the stop of `a` keeps half a second; the last second is the wait for
        // SIGKILL.
        #expect(stage.log(of: "b").contains("20500 killed"))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-45: a stop that began before the project's own has to fit its budget too")
    func earlierStop() {
        var stage = Stage(
            [spec("a") { $0.stopTimeout = .seconds(60) }, spec("b")], exitBudget: .seconds(5),
            behaviours: ["a": .stubborn])
        stage.up()
        stage.run(for: .seconds(1))
        stage.restart("a")
        stage.run(for: .seconds(1))
        stage.stopProject()
        stage.runOut()
        #expect(stage.elapsed < .seconds(7))
        #expect(stage.log(of: "a").contains { $0.hasSuffix("killed") })
        #expect(!stage.log.contains { $0.hasSuffix("budget exceeded") })
        #expect(stage.host.violations == [])
    }

    @Test(
        "LIF-46: stopTimeout absent is 10 s, zero is SIGKILL at once",
        arguments: [
            (nil, "11000 killed"), (Duration.zero, "1000 killed"), (.seconds(2), "3000 killed"),
        ])
    func stopTimeout(limit: Duration?, line: String) {
        var stage = Stage(
            [spec("a") { if let limit { $0.stopTimeout = limit } }], behaviours: ["a": .stubborn])
        stage.up()
        stage.run(for: .seconds(1))
        stage.stopProject()
        stage.runOut()
        #expect(stage.log(of: "a").contains(line))
        #expect(stage.log(of: "a").contains { $0.contains("signal 15") } == (limit != .zero))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-47: a stop that cannot finish is abandoned and named, and the next one runs")
    func abandoned() {
        var stage = Stage(chain(["a", "b"]), behaviours: ["b": .immortal])
        stage.up()
        stage.run(for: .seconds(1))
        stage.stopProject()
        stage.runOut()
        #expect(
            stage.log(since: "project stopping") == [
                "1000 project stopping", "1000 b stop", "1000 b signal 15 group",
                "11000 b killed", "12000 b abandoned", "12000 a stop", "12000 a signal 15 group",
                "12000 a stopped", "12000 project ended",
            ])
        #expect(stage.outcome?.abandoned == [stage.id("b")])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-48: a stop cancels a delay: no error, nothing starts later, nothing waits for it")
    func stopWhileBackingOff() {
        var stage = Stage(
            [spec("a") { $0.restart.backoff = .spaced(.seconds(10)) }, spec("b")],
            behaviours: ["a": .exits(after: .seconds(1), .code(1))])
        stage.up()
        stage.run(for: .seconds(2))
        stage.down("a")
        #expect(stage.state("a") == .ended(.stopped))
        stage.run(for: .seconds(20))
        #expect(stage.launches(of: "a") == 1)
        stage.stopProject()
        stage.runOut()
        #expect(stage.elapsed == .seconds(22))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-49: a child that outlives its main process is killed at stopTimeout")
    func stubbornChild() {
        var stage = Stage(
            [spec("a") { $0.stopTimeout = .seconds(2) }],
            behaviours: ["a": Behaviour { $0.tree = nil }])
        stage.up()
        stage.run(for: .seconds(1))
        stage.stopProject()
        stage.runOut()
        #expect(
            stage.log(of: "a").dropFirst(2) == [
                "1000 stop", "1000 signal 15 group", "3000 killed", "3000 stopped",
            ])
        #expect(stage.effects.contains(.signalRest(Incarnation(1), 15)))
        #expect(stage.host.violations == [])
    }
}
