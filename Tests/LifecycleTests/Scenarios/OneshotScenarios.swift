import Simulation
import Testing

@testable import Stoic

@Suite("LifecycleMachine, oneshots", .timeLimit(.minutes(1)))
struct OneshotScenarios {
    static let quick = Behaviour.exits(after: .milliseconds(200), .code(0))

    @Test("LIF-80: a oneshot that exits with success is completed, once, and what needs it starts")
    func completes() {
        var stage = Stage([oneshot("m"), spec("b", needs: ["m"])], behaviours: ["m": Self.quick])
        stage.up()
        stage.run(for: .seconds(5))
        #expect(
            stage.log == [
                "0 m launch", "200 m exited", "200 m stopped", "200 m completed", "200 b launch",
                "200 b ready", "200 project up",
            ])
        stage.up()
        stage.stopProject()
        stage.runOut()
        #expect(stage.launches(of: "m") == 1)
        #expect(stage.effects.count { $0 == .signal(Incarnation(1), 15, .group) } == 0)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-81: a oneshot that fails is a start failure")
    func fails() {
        var stage = Stage(
            [oneshot("m"), spec("b", needs: ["m"]), spec("c")],
            behaviours: ["m": .exits(after: .milliseconds(200), .code(1))])
        stage.up()
        stage.runOut()
        #expect(stage.elapsed == .milliseconds(200))
        #expect(stage.launches(of: "b") == 0)
        #expect(stage.outcome?.failed == [stage.id("m")])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-82: completed needs an empty tree, unless keepTree")
    func tree() {
        var lingering = Self.quick
        lingering.tree = .seconds(3)
        for keeps in [false, true] {
            var stage = Stage(
                [oneshot("m", keepsTree: keeps), spec("b", needs: ["m"])],
                behaviours: ["m": lingering])
            stage.up()
            stage.run(for: .seconds(20))
            #expect(stage.log(of: "b").first == (keeps ? "200 launch" : "3200 launch"))
            #expect(stage.effects.contains(.signal(Incarnation(1), 15, .tree)) != keeps)
            #expect(stage.host.violations == [])
        }
    }

    @Test("LIF-82: a tree that was kept is stopped with the project, in its turn")
    func keptTreeStops() {
        var kept = Self.quick
        kept.tree = nil
        var stage = Stage(
            [oneshot("m", keepsTree: true), spec("b", needs: ["m"])], behaviours: ["m": kept])
        stage.up()
        stage.run(for: .seconds(1))
        #expect(stage.machine.phase == .settled)
        stage.stopProject()
        stage.runOut()
        #expect(
            stage.log(since: "project stopping") == [
                "1000 project stopping", "1000 b stop", "1000 b signal 15 group",
                "1000 b stopped", "1000 m stop", "1000 m signal 15 group", "11000 m killed",
                "11000 m stopped", "11000 project ended",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-83: it runs again when started by name, and not because of up")
    func again() {
        var stage = Stage([oneshot("m"), spec("b")], behaviours: ["m": Self.quick])
        stage.up()
        stage.run(for: .seconds(1))
        stage.up()
        stage.start("b")
        stage.run(for: .seconds(1))
        #expect(stage.launches(of: "m") == 1)
        stage.start("m")
        stage.run(for: .seconds(1))
        #expect(stage.launches(of: "m") == 2)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-84: with rerun: withNeeds it runs again after each restart of a need")
    func rerun() {
        for keeps in [false, true] {
            for reruns in [false, true] {
                var kept = Self.quick
                if keeps { kept.tree = nil }
                var stage = Stage(
                    [spec("db"), oneshot("m", needs: ["db"], reruns: reruns, keepsTree: keeps)],
                    behaviours: ["m": kept])
                stage.up()
                stage.run(for: .seconds(1))
                stage.restart("db")
                stage.run(for: .seconds(20))
                #expect(stage.launches(of: "m") == (reruns ? 2 : 1))
                #expect(stage.host.violations == [])
            }
        }
    }

    @Test("LIF-85: it runs again when its definition changes")
    func changed() {
        var stage = Stage([oneshot("m"), spec("b")], behaviours: ["m": Self.quick])
        stage.up()
        stage.run(for: .seconds(1))
        var changed = oneshot("m")
        changed.launchDigest = 1
        stage.plan([changed, spec("b")])
        stage.run(for: .seconds(1))
        #expect(stage.launches(of: "m") == 2 && stage.launches(of: "b") == 1)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-86: a oneshot's bound is its timeout")
    func timeout() {
        var stage = Stage(
            [
                spec("m") {
                    $0.kind = .oneshot(rerunsWithNeeds: false, keepsTree: false)
                    $0.readiness = .completion
                    $0.startTimeout = .seconds(60)
                }
            ])
        stage.up()
        stage.runOut()
        #expect(stage.log(of: "m").contains("60000 failed: not ready in time"))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-87: an essential oneshot ends the project when it has completed, its tree included")
    func essential() {
        for keeps in [false, true] {
            var lingering = Self.quick
            lingering.tree = .seconds(3)
            var job = oneshot("m", keepsTree: keeps)
            job.isEssential = true
            var stage = Stage([job, spec("b")], behaviours: ["m": lingering])
            stage.up()
            stage.runOut()
            #expect(stage.elapsed == .milliseconds(3_200))
            #expect(stage.outcome?.essentialStatus == .code(0))
            #expect(stage.host.violations == [])
        }
    }
}
