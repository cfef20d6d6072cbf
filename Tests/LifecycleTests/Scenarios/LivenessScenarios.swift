import Simulation
import Testing

@testable import Stoic

@Suite("Liveness probes", .timeLimit(.minutes(1)))
struct LivenessScenarios {
    @Test("LIF-103: too many failures in a row: the whole ladder, then the restart policy")
    func fails() {
        var stage = Stage(
            [spec("a") { $0.liveThreshold = 3 }, spec("b")],
            behaviours: ["a": Behaviour { $0.answersProbes = false }])
        stage.up()
        stage.run(for: .seconds(45))
        #expect(
            stage.log(of: "a") == [
                "0 launch", "0 ready", "10000 probe failed 1 of 3", "20000 probe failed 2 of 3",
                "30000 probe failed 3 of 3", "30000 failed: unhealthy", "30000 again in 500",
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
            ], behaviours: ["a": Behaviour { $0.answersProbes = false }])
        stage.up()
        stage.run(for: .seconds(60))
        #expect(stage.state("a") == .ended(.failed(.unhealthy("it hangs", probes: 1))))
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
