import Simulation
import Testing

@testable import Stoic

@Suite("LifecycleMachine, the ladder of a stop", .timeLimit(.minutes(1)))
struct LadderScenarios {
    /// The lines of one service's stop at 1 s.
    static func stop(_ spec: ServiceSpec, _ behaviour: Behaviour) -> (stage: Stage, lines: [String])
    {
        var stage = Stage([spec], behaviours: [spec.name: behaviour])
        stage.up()
        stage.run(for: .seconds(1))
        stage.stopProject()
        stage.runOut()
        let lines = stage.log(of: spec.name)
        return (stage, Array(lines[(lines.firstIndex { $0.hasSuffix(" stop") } ?? 0)...]))
    }

    @Test("LIF-50: a graceful message that is answered: SIGTERM follows 1 s before the end")
    func answered() {
        let (stage, lines) = Self.stop(
            spec("a"),
            Behaviour {
                $0.hasChannel = true
                $0.term = nil
                $0.answer = .only
            })
        #expect(
            lines == [
                "1000 stop", "1000 message", "1000 answered", "10000 signal 15 group",
                "11000 killed", "11000 stopped",
            ])
        #expect(
            stage.effects.contains(
                .sendStop(Incarnation(1), .cancelled("stopped by test"), deadline: .seconds(10))))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-50: a service that answers and then ends needs no signal")
    func answeredInTime() {
        let (stage, lines) = Self.stop(
            spec("a"),
            Behaviour {
                $0.hasChannel = true
                $0.answer = .exits(after: .seconds(4))
            })
        #expect(lines == ["1000 stop", "1000 message", "1000 answered", "5000 stopped"])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-51: a graceful message that is not answered within 500 ms: SIGTERM")
    func unanswered() {
        let (stage, lines) = Self.stop(spec("a"), Behaviour { $0.hasChannel = true })
        #expect(lines == ["1000 stop", "1000 message", "1500 signal 15 group", "1500 stopped"])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-51: with little time SIGTERM still comes before SIGKILL")
    func littleTime() {
        let (stage, lines) = Self.stop(
            spec("a") { $0.stopTimeout = .milliseconds(200) },
            Behaviour {
                $0.hasChannel = true
                $0.term = nil
            })
        #expect(
            lines == [
                "1000 stop", "1000 message", "1100 signal 15 group", "1200 killed", "1200 stopped",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-52: without a channel SIGTERM goes out at once, to the group of the main process")
    func withoutChannel() {
        let (stage, lines) = Self.stop(spec("a"), .good)
        #expect(lines == ["1000 stop", "1000 signal 15 group", "1000 stopped"])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-53: a custom ladder takes its rungs in order, with their waits, then SIGKILL")
    func custom() {
        let (stage, lines) = Self.stop(
            spec("a") {
                $0.ladder = [
                    Rung(.command(0), wait: .seconds(1)),
                    Rung(.signal(2, .main), wait: .seconds(3)),
                    Rung(.signal(15, .tree)),
                ]
            }, .stubborn)
        #expect(
            lines == [
                "1000 stop", "1000 command 0", "2000 signal 2 main", "5000 signal 15 tree",
                "11000 killed", "11000 stopped",
            ])
        #expect(
            stage.effects.contains(
                .runStopCommand(
                    Incarnation(1), index: 0, .cancelled("stopped by test"), deadline: .seconds(1)))
        )
        #expect(stage.host.violations == [])
    }

    @Test("LIF-53: rungs without waits share the time evenly")
    func evenly() {
        let (stage, lines) = Self.stop(
            spec("a") { $0.ladder = [Rung(.signal(2, .group)), Rung(.signal(15, .group))] },
            .stubborn)
        #expect(
            lines == [
                "1000 stop", "1000 signal 2 group", "6000 signal 15 group", "11000 killed",
                "11000 stopped",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-53: waits longer than stopTimeout do not delay SIGKILL")
    func longWaits() {
        let (stage, lines) = Self.stop(
            spec("a") {
                $0.ladder = [
                    Rung(.signal(2, .main), wait: .seconds(60)), Rung(.signal(15, .group)),
                ]
            }, .stubborn)
        #expect(lines.contains("11000 killed"))
        #expect(stage.host.violations == [])
    }

    @Test(
        "LIF-54: an empty ladder, or one without a rung that applies, is SIGKILL at stopTimeout",
        arguments: [[], [Rung(.message)]])
    func noRungs(ladder: [Rung]) {
        let (stage, lines) = Self.stop(spec("a") { $0.ladder = ladder }, .good)
        #expect(lines == ["1000 stop", "11000 killed", "11000 stopped"])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-55: a launch that is answered during the stop is stopped with the whole ladder")
    func launchedWhileStopping() {
        var stage = Stage(
            [spec("a")],
            behaviours: [
                "a": Behaviour {
                    $0.launch = .seconds(2)
                    $0.term = nil
                }
            ])
        stage.up()
        stage.run(for: .seconds(1))
        stage.stopProject()
        stage.runOut()
        #expect(
            stage.log(of: "a") == [
                "0 launch", "1000 stop", "2000 signal 15 group", "11000 killed", "11000 stopped",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-56: two signals within 500 ms are one request; a later one forces; a third nothing")
    func impatience() {
        var stage = Stage(
            chain(["a", "b"]) { $0.stopTimeout = .seconds(30) },
            behaviours: ["a": .stubborn, "b": .stubborn])
        stage.up()
        stage.run(for: .seconds(1))
        stage.interrupt()
        stage.run(for: .milliseconds(499))
        stage.interrupt()
        #expect(!stage.machine.wasForced)
        stage.run(for: .milliseconds(501))
        stage.interrupt()
        let before = stage.effects.count
        stage.interrupt()
        #expect(stage.effects.count == before)
        stage.runOut()
        #expect(
            stage.log(since: "project stopping") == [
                "1000 project stopping", "1000 b stop", "1000 b signal 15 group",
                "2000 project forced", "2000 a killed", "2000 b killed", "2000 a stopped",
                "2000 b stopped", "2000 project ended",
            ])
        #expect(stage.outcome?.wasForced == true)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-56: forcing works between two stops, and with nothing left to stop")
    func forceBetweenStops() {
        var stage = Stage(chain(["a", "b"]))
        stage.up()
        stage.run(for: .seconds(1))
        stage.command(.force)
        stage.runOut()
        #expect(stage.log.suffix(3) == ["1000 a stopped", "1000 b stopped", "1000 project ended"])
        stage.command(.force)
        stage.interrupt()
        #expect(stage.host.violations == [])
    }

    @Test("LIF-57: down and stop join a stop that is under way")
    func join() {
        var stage = Stage([spec("a")], behaviours: ["a": .stubborn])
        stage.up()
        stage.run(for: .seconds(1))
        stage.stopProject()
        stage.run(for: .seconds(2))
        stage.stopProject()
        stage.down("a")
        stage.stop("a")
        stage.start("a")
        stage.runOut()
        #expect(stage.log(of: "a").suffix(2) == ["11000 killed", "11000 stopped"])
        #expect(stage.log.contains("3000 project refused start: projectStopping"))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-58: time in which we stood still is forgiven")
    func paused() {
        var stage = Stage(
            [spec("a"), spec("b")], behaviours: ["a": Behaviour { $0.ready = nil }, "b": .good])
        stage.up()
        stage.run(for: .seconds(29))
        stage.freeze(for: .seconds(100))
        stage.run(for: .milliseconds(900))
        #expect(stage.state("a").isActive && stage.machine.phase == .comingUp)
        stage.runOut()
        #expect(stage.log(of: "a").contains("130000 failed: not ready in time"))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-58: a stop and its budget are put off by as much as we stood still")
    func pausedStop() {
        var stage = Stage([spec("a")], exitBudget: .seconds(20), behaviours: ["a": .stubborn])
        stage.up()
        stage.run(for: .seconds(1))
        stage.stopProject()
        stage.run(for: .seconds(5))
        stage.freeze(for: .seconds(60))
        stage.runOut()
        #expect(stage.log(of: "a").contains("71000 killed"))
        #expect(!stage.log.contains { $0.hasSuffix("budget exceeded") })
        #expect(stage.host.violations == [])
    }
}
