import Simulation
import Testing

@testable import Stoic

@Suite("LifecycleMachine, starting a project", .timeLimit(.minutes(1)))
struct StartScenarios {
    @Test("LIF-20: a service starts the moment its needs are met; independent ones together")
    func startsTogether() {
        var stage = Stage(
            [
                spec("a"), spec("b"), spec("c", needs: ["a"]), spec("d", needs: ["a", "b"]),
            ],
            behaviours: [
                "a": Behaviour { $0.ready = .seconds(1) },
                "b": Behaviour { $0.ready = .seconds(2) },
            ])
        stage.up()
        stage.run(for: .seconds(5))
        #expect(
            stage.log == [
                "0 a launch", "0 b launch", "1000 a ready", "1000 c launch", "1000 c ready",
                "2000 b ready", "2000 d launch", "2000 d ready", "2000 project up",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-21: a start failure rolls back: starts are cancelled, what started is stopped")
    func rollback() {
        var stage = Stage(
            [spec("a"), spec("b", needs: ["a"]), spec("c", needs: ["b"]), spec("d")],
            behaviours: [
                "b": .exits(after: .milliseconds(300), .code(1), ready: nil),
                "d": Behaviour { $0.ready = nil },
            ])
        stage.up()
        stage.runOut()
        #expect(
            stage.log == [
                "0 a launch", "0 d launch", "0 a ready", "0 b launch",
                "300 b failed: ended early", "300 project stopping",
                "300 c stopped", "300 d stop", "300 d signal 15 group",
                "300 b stopped", "300 d stopped", "300 a stop", "300 a signal 15 group",
                "300 a stopped", "300 project ended",
            ])
        #expect(stage.outcome?.cause == .startFailed(stage.id("b")))
        #expect(stage.outcome?.failed == [stage.id("b")])
        #expect(stage.launches(of: "c") == 0)
        #expect(stage.host.violations == [])
    }

    @Test(
        "LIF-21: waiting for readiness also watches for death, whatever kills",
        arguments: [
            Behaviour.exits(after: .milliseconds(300), .code(1), ready: nil),
            Behaviour.exits(after: .milliseconds(300), .code(0), ready: nil),
            Behaviour.exits(after: .milliseconds(300), .signal(11, coreDumped: true), ready: nil),
            Behaviour {
                $0.launch = .milliseconds(300)
                $0.failedLaunches = 1
            },
        ])
    func deathWhileStarting(behaviour: Behaviour) {
        var stage = Stage(
            [
                spec("a") { $0.startTimeout = .seconds(60) }, spec("b", needs: ["a"]), spec("c"),
            ], behaviours: ["a": behaviour])
        stage.up()
        stage.runOut()
        #expect(stage.elapsed == .milliseconds(300))
        #expect(stage.launches(of: "b") == 0)
        #expect(stage.log.contains("300 c stopped"))
        #expect(stage.outcome?.failed == [stage.id("a")])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-22: with onStartFailure keep the restart policy is followed, and dependents wait")
    func keep() {
        var stage = Stage(
            [spec("a") { $0.onStartFailure = .keep }, spec("b", needs: ["a"]), spec("c")],
            behaviours: ["a": Behaviour { $0.failedLaunches = 2 }])
        stage.up()
        stage.run(for: .zero)
        #expect(stage.state("a") == .backingOff)
        #expect(stage.machine.blockers(of: stage.id("b")).map(\.service) == [stage.id("a")])
        #expect(stage.machine.blockers(of: stage.id("b")).map(\.2) == [.backingOff])
        stage.run(for: .seconds(10))
        #expect(
            stage.log(of: "a") == [
                "0 launch", "0 failed: cannot launch", "0 again in 500", "0 stopped",
                "500 launch", "500 failed: cannot launch", "500 again in 1000", "500 stopped",
                "1500 launch", "1500 ready",
            ])
        #expect(stage.log(of: "b") == ["1500 launch", "1500 ready"])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-23: once the project was fully up a start failure follows the restart policy")
    func afterFullyUp() {
        var stage = Stage([spec("a"), spec("b", needs: ["a"])])
        stage.up()
        stage.run(for: .seconds(1))
        #expect(stage.machine.phase == .settled)
        stage.behave("a", Behaviour { $0.failedLaunches = 3 })
        stage.exit("a", .code(1))
        stage.run(for: .seconds(10))
        #expect(stage.launches(of: "a") == 4)
        #expect(stage.state("a").offers.contains(.ready))
        #expect(stage.log(of: "b").last == "1000 need lost: ignore")
        #expect(stage.host.violations == [])
    }

    @Test("LIF-24: startAttempts are counted before a start failure is one, with backoff")
    func startAttempts() {
        var stage = Stage(
            [spec("a") { $0.startAttempts = 3 }],
            behaviours: ["a": Behaviour { $0.failedLaunches = 2 }])
        stage.up()
        stage.run(for: .seconds(10))
        #expect(stage.launches(of: "a") == 3)
        #expect(stage.machine.phase == .settled)
        var failing = Stage(
            [spec("a") { $0.startAttempts = 3 }],
            behaviours: ["a": Behaviour { $0.failedLaunches = 9 }])
        failing.up()
        failing.runOut()
        #expect(failing.launches(of: "a") == 3)
        #expect(failing.elapsed == .milliseconds(1_500))
        #expect(failing.outcome?.cause == .startFailed(failing.id("a")))
        #expect(stage.host.violations + failing.host.violations == [])
    }

    @Test("LIF-25: the default readiness is the exec itself")
    func defaultReadiness() {
        var stage = Stage([spec("a") { $0.readiness = .launch }, spec("b", needs: ["a"])])
        stage.up()
        stage.run(for: .zero)
        #expect(stage.log.prefix(3) == ["0 a launch", "0 a ready", "0 b launch"])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-26: a start that takes too long fails and is stopped with its ladder")
    func startTimeout() {
        var stage = Stage(
            [spec("a"), spec("b", needs: ["a"])],
            behaviours: [
                "a": Behaviour {
                    $0.ready = nil
                    $0.term = nil
                }
            ])
        stage.up()
        stage.runOut()
        #expect(
            stage.log == [
                "0 a launch", "30000 a failed: not ready in time", "30000 project stopping",
                "30000 b stopped", "30000 a stop", "30000 a signal 15 group", "40000 a killed",
                "40000 a stopped",
                "40000 project ended",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-27: a message extends a start, never beyond its maximum, and never shortens it")
    func extendedStart() {
        var stage = Stage(
            [spec("a") { $0.startTimeoutMax = .seconds(60) }],
            behaviours: ["a": Behaviour { $0.ready = nil }])
        stage.up()
        stage.run(for: .seconds(1))
        stage.say("a", .extendTimeout(.seconds(2)))
        stage.run(for: .seconds(28))
        stage.say("a", .extendTimeout(.seconds(20)))
        stage.run(for: .seconds(15))
        stage.say("a", .extendTimeout(.seconds(1_000)))
        stage.runOut()
        #expect(
            stage.log(of: "a").prefix(5) == [
                "0 launch", "1000 extended by 29000", "29000 extended by 20000",
                "44000 extended by 16000", "60000 failed: not ready in time",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-28: a launch that is never answered is called off at the end of its stop")
    func unansweredLaunch() {
        var stage = Stage([spec("a"), spec("b")], behaviours: ["a": Behaviour { $0.launch = nil }])
        stage.up()
        stage.run(for: .seconds(1))
        stage.stopProject()
        stage.runOut()
        #expect(stage.elapsed == .seconds(11))
        #expect(stage.effects.contains(.kill(Incarnation(1))))
        #expect(stage.outcome?.abandoned == [])
        #expect(stage.host.violations == [])
    }

    @Test(
        "LIF-29: a stop asked for at any moment of a start is honoured, and nothing else starts",
        arguments: [0, 5, 20, 100, 500, 2_000])
    func stopWhileStarting(milliseconds: Int) {
        var stage = Stage(
            [
                spec("a") { $0.startTimeout = .seconds(60) }, spec("b", needs: ["a"]), spec("c"),
            ],
            behaviours: [
                "a": Behaviour {
                    $0.launch = .milliseconds(10)
                    $0.ready = nil
                },
                "c": Behaviour {
                    $0.launch = .milliseconds(50)
                    $0.ready = .milliseconds(300)
                },
            ])
        stage.up()
        stage.run(for: .milliseconds(milliseconds))
        stage.stopProject()
        stage.runOut()
        #expect(stage.launches(of: "b") == 0)
        #expect(stage.elapsed <= .milliseconds(max(milliseconds, 50)))
        #expect(stage.outcome?.abandoned == [])
        #expect(stage.host.violations == [])
    }
}
