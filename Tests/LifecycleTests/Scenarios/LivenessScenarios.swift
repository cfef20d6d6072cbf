import Simulation
import Testing

@testable import Stoic

@Suite("Liveness probes", .timeLimit(.minutes(1)))
struct LivenessScenarios {
    private static let deaf = Behaviour {
        $0.answersProbes = false
        $0.probeTimeout = .zero
    }

    @Test("LIF-103: too many failures in a row: the whole ladder, then the restart policy")
    func fails() {
        var stage = Stage(
            [spec("a") { $0.liveThreshold = 3 }, spec("b")],
            behaviours: ["a": Self.deaf])
        stage.up()
        stage.run(for: .seconds(45))
        #expect(
            stage.log(of: "a") == [
                "0 launch", "0 ready", "10000 probe failed 1 of 3", "20000 probe failed 2 of 3",
                "30000 probe failed 3 of 3", "30000 failed: probes", "30000 again in 500",
                "30000 stop", "30000 signal 15 group", "30000 stopped", "30500 launch",
                "30500 ready", "40500 probe failed 1 of 3",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-103: without a restart policy it has failed for good, and says why")
    func failsForGood() {
        var stage = Stage(
            [
                spec("a") {
                    $0.liveThreshold = 1
                    $0.restart.mode = .no
                }, spec("b"),
            ], behaviours: ["a": Self.deaf])
        stage.up()
        stage.run(for: .seconds(60))
        #expect(stage.state("a") == .ended(.failed(.probesFailed("it hangs", count: 1))))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-104: a success in between starts the count over")
    func recovers() {
        var stage = Stage([spec("a") { $0.liveThreshold = 3 }])
        stage.up()
        stage.run(for: .seconds(1))
        for _ in 0..<5 {
            for fact: MessageFact in [
                .probeFailed("slow"), .probeFailed("slow"), .probePassed, .probePassed,
            ] {
                stage.say("a", fact)
            }
        }
        #expect(stage.launches(of: "a") == 1)
        #expect(stage.log(of: "a").count { $0.hasSuffix("probe passed") } == 5)
        #expect(stage.log(of: "a").count { $0.hasSuffix("probe failed 2 of 3") } == 5)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-106: failures later than resetAfter: the delays grow, and in the end it gives up")
    func givesUp() {
        var stage = Stage(
            [
                spec("a") {
                    $0.liveThreshold = 4
                    $0.restart.resetAfter = .seconds(30)
                    $0.restart.limitWindow = .seconds(3_600)
                }, spec("b"),
            ], behaviours: ["a": Self.deaf])
        stage.up()
        stage.run(for: .seconds(3_000))
        #expect(!stage.log(of: "a").contains { $0.hasSuffix("healthy") })
        #expect(
            stage.state("a")
                == .ended(.gaveUp(.probesFailed("it hangs", count: 4), restarts: 10)))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-104: once its probes succeed again its delays start over in their time")
    func healthyAgain() {
        var stage = Stage(
            [spec("a") { $0.liveThreshold = 3 }, spec("b")],
            behaviours: [
                "a": Behaviour { $0.exits = [.init(after: .seconds(1), status: .code(1)), nil] }
            ])
        stage.up()
        stage.run(for: .seconds(20))
        stage.say("a", .probeFailed("slow"))
        stage.run(for: .seconds(20))
        #expect(!stage.log(of: "a").contains { $0.hasSuffix("healthy") })
        stage.say("a", .probePassed)
        stage.run(for: .seconds(31))
        #expect(stage.log(of: "a").count { $0.hasSuffix("healthy") } == 1)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-105: one that says that it is stopping is not probed while it drains")
    func draining() {
        var stage = Stage([spec("a") { $0.liveThreshold = 1 }, spec("b")])
        stage.up()
        stage.run(for: .seconds(1))
        stage.say("a", .stopping)
        stage.say("a", .probeFailed("closed"))
        #expect(stage.launches(of: "a") == 1)
        stage.exit("a", .code(0))
        stage.run(for: .seconds(5))
        #expect(stage.state("a") == .ended(.exited(.code(0))))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-105: one that is ready again after it said so is probed again")
    func readyAgain() {
        var stage = Stage([spec("a") { $0.liveThreshold = 1 }, spec("b")])
        stage.up()
        stage.run(for: .seconds(1))
        stage.say("a", .stopping)
        stage.say("a", .ready)
        stage.say("a", .probeFailed("closed"))
        stage.run(for: .seconds(5))
        #expect(stage.launches(of: "a") == 2)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-105: nothing is probed before readiness, or once it is being stopped")
    func onlyWhileUp() {
        var stage = Stage(
            [
                spec("a") {
                    $0.liveThreshold = 1
                    $0.readiness = .reported
                    $0.startTimeout = .seconds(300)
                }, spec("b"),
            ],
            behaviours: [
                "a": Behaviour {
                    $0.ready = .seconds(100)
                    $0.answersProbes = false
                    $0.term = nil
                }
            ])
        stage.up()
        stage.run(for: .seconds(50))
        stage.say("a", .probeFailed("early"))
        stage.run(for: .seconds(55))
        stage.down("a")
        stage.run(for: .seconds(1))
        stage.say("a", .probeFailed("late"))
        stage.run(for: .seconds(60))
        #expect(!stage.log(of: "a").contains { $0.contains("probe") })
        #expect(stage.launches(of: "a") == 1)
        #expect(stage.host.violations == [])
    }
}
