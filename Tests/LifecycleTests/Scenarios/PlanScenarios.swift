import Simulation
import Testing

@testable import Stoic

@Suite("LifecycleMachine, plans", .timeLimit(.minutes(1)))
struct PlanScenarios {
    static func specs(_ vary: (inout [ServiceSpec]) -> Void = { _ in }) -> [ServiceSpec] {
        var specs = [spec("a"), spec("b", needs: ["a"]), spec("c")]
        vary(&specs)
        return specs
    }

    static func upStage() -> Stage {
        var stage = Stage(specs())
        stage.up()
        stage.run(for: .seconds(1))
        return stage
    }

    static func lives(_ stage: Stage) -> [Incarnation?] { ["a", "b", "c"].map { stage.life($0) } }

    @Test("LIF-90: the same services, in any order, keep their processes")
    func unchanged() {
        var stage = Self.upStage()
        let before = Self.lives(stage)
        stage.plan(Self.specs())
        stage.plan(Self.specs().reversed())
        stage.run(for: .seconds(1))
        #expect(Self.lives(stage) == before)
        #expect(
            stage.log.suffix(4) == [
                "1000 project plan +0 ~0 -0", "1000 project plan settled",
                "1000 project plan +0 ~0 -0", "1000 project plan settled",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-91: a service that is added starts; the others keep their processes")
    func added() {
        var stage = Self.upStage()
        let before = Self.lives(stage)
        stage.plan(Self.specs { $0.append(spec("d", needs: ["b"])) })
        stage.run(for: .seconds(1))
        #expect(Self.lives(stage) == before && stage.state("d").isSettled)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-92: what changed, and what needs it, restarts in order; nothing else")
    func changed() {
        var stage = Self.upStage()
        let before = Self.lives(stage)
        stage.plan(Self.specs { $0[0].launchDigest = 1 })
        stage.run(for: .seconds(1))
        #expect(stage.life("c") == before[2])
        #expect(
            stage.log(since: "plan +0 ~2 -0") == [
                "1000 project plan +0 ~2 -0",
                "1000 b stop", "1000 b signal 15 group", "1000 b stopped",
                "1000 a stop", "1000 a signal 15 group", "1000 a stopped",
                "1000 a launch", "1000 a ready", "1000 b launch", "1000 b ready",
                "1000 project plan settled",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-93: a policy that changes keeps the process")
    func policy() {
        var stage = Self.upStage()
        let before = Self.lives(stage)
        stage.plan(Self.specs { $0[0].stopTimeout = .seconds(3) })
        #expect(Self.lives(stage) == before)
        #expect(stage.machine.spec(of: stage.id("a")).stopTimeout == .seconds(3))
        #expect(stage.host.violations == [])
    }

    @Test(
        "LIF-94: a service that is removed stops after what needed it, and leaves when it is gone")
    func removed() {
        var stage = Self.upStage()
        stage.behave("b", Behaviour { $0.term = .seconds(2) })
        let a = stage.id("a")
        stage.plan([spec("c")])
        stage.run(for: .seconds(1))
        #expect(stage.machine.service(named: "a") == a)
        stage.command(.start([a]))
        #expect(stage.log.last == "2000 project refused start: unknownService")
        stage.run(for: .seconds(5))
        #expect(stage.machine.services == [stage.id("c")])
        #expect(stage.log.suffix(2) == ["3000 a forgotten", "3000 project plan settled"])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-95: one that comes back while it leaves starts again once the old one is gone")
    func comesBack() {
        var stage = Self.upStage()
        stage.behave("c", Behaviour { $0.term = .seconds(5) })
        stage.plan(Array(Self.specs().dropLast()))
        stage.run(for: .seconds(1))
        stage.plan(Self.specs())
        stage.run(for: .seconds(10))
        #expect(stage.launches(of: "c") == 2 && stage.state("c").isSettled)
        #expect(stage.log(of: "c").contains("6000 launch"))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-96: a bad plan cannot be made, so it changes nothing")
    func bad() {
        #expect(throws: DependencyGraphError.self) { try Plan([spec("a", needs: ["nope"])]) }
        #expect(throws: DependencyGraphError.self) {
            try Plan([spec("a", needs: ["b"]), spec("b", needs: ["a"])])
        }
        var stage = Self.upStage()
        stage.exit("a", .code(1))
        stage.run(for: .seconds(5))
        #expect(stage.state("a").isSettled)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-97: a plan whose service fails to start is rolled back")
    func rollback() {
        var stage = Self.upStage()
        stage.behave("a", Behaviour { $0.ready = nil })
        let changed = Self.specs {
            $0[0].launchDigest = 1
            $0[0].startTimeout = .seconds(2)
            $0.append(spec("d", needs: ["c"]))
        }
        stage.plan(changed, rollsBack: true)
        stage.run(for: .milliseconds(1_900))
        stage.behave("a", .good)
        stage.run(for: .seconds(30))
        #expect(stage.machine.unsettledServices == [])
        #expect(stage.machine.service(named: "d") == nil)
        #expect(stage.machine.spec(of: stage.id("a")).launchDigest == 0)
        #expect(stage.log.contains("3000 a plan rolled back"))
        #expect(stage.log.last?.hasSuffix("project plan settled") == true)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-97: without a rollback the failure follows the restart policy")
    func withoutRollback() {
        var stage = Self.upStage()
        stage.behave("c", Behaviour { $0.failedLaunches = 3 })
        stage.plan(Self.specs { $0[2].launchDigest = 1 })
        stage.run(for: .seconds(10))
        #expect(stage.state("c").isSettled)
        #expect(!stage.log.contains { $0.hasSuffix("rolled back") })
        #expect(stage.host.violations == [])
    }

    @Test("LIF-98: changes says beforehand what a plan would do")
    func changes() throws {
        let stage = Self.upStage()
        let plan = try Plan(
            Self.specs {
                $0[0].launchDigest = 1
                $0[2] = spec("d")
            })
        let changes = stage.machine.changes(plan)
        #expect(changes.map(\.service) == ["a", "b", "d", "c"])
        #expect(
            changes.map(\.kind) == [.changed, .relaunched(because: "a"), .added, .removed])
    }

    @Test("LIF-99: what is held, or was never started, stays so over a plan")
    func held() {
        var stage = Self.upStage()
        stage.stop("c")
        stage.run(for: .seconds(1))
        stage.plan(
            Self.specs {
                $0[2].launchDigest = 1
                $0.append(spec("m") { $0.startsAutomatically = false })
            })
        stage.run(for: .seconds(5))
        #expect(stage.state("c") == .ended(.held("test")))
        #expect(stage.state("m") == .ended(.neverStarted))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-100: a new need of a running service starts; one that nobody needs any more stops")
    func edges() {
        var stage = Stage([
            spec("lib") { $0.startsAutomatically = false },
            spec("old") { $0.startsAutomatically = false }, spec("app", needs: ["old"]),
        ])
        stage.up()
        stage.run(for: .seconds(1))
        let app = stage.life("app")
        stage.plan([
            spec("lib") { $0.startsAutomatically = false },
            spec("old") { $0.startsAutomatically = false }, spec("app", needs: ["lib"]),
        ])
        stage.run(for: .seconds(5))
        #expect(stage.life("app") == app)
        #expect(stage.state("lib").isSettled && stage.state("old") == .ended(.stopped))
        #expect(stage.host.violations == [])
    }
}
