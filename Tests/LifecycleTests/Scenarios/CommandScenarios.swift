import Simulation
import Testing

@testable import Stoic

@Suite("LifecycleMachine, commands", .timeLimit(.minutes(1)))
struct CommandScenarios {
    /// `db`, `api needs db`, `web needs api`, `other`, all up for a second.
    static func upStage(_ vary: (inout ServiceSpec) -> Void = { _ in }) -> Stage {
        var stage = Stage(
            [
                spec("db", vary), spec("api", needs: ["db"], vary),
                spec("web", needs: ["api"], vary),
                spec("other", vary),
            ])
        stage.up()
        stage.run(for: .seconds(1))
        return stage
    }

    @Test("LIF-60: up owns every service with start: auto; the others start when they are needed")
    func upOwnsAutomatic() {
        var stage = Stage([
            spec("tool") { $0.startsAutomatically = false },
            spec("lib") { $0.startsAutomatically = false }, spec("app", needs: ["lib"]),
        ])
        stage.up()
        stage.run(for: .seconds(1))
        #expect(stage.state("tool") == .ended(.neverStarted))
        #expect(stage.machine.isWanted(stage.id("lib")) && stage.state("lib").isSettled)
        #expect(stage.machine.phase == .settled)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-61: start X starts what X needs, owned by X; down X stops what nobody wants then")
    func startAndDown() {
        var stage = Stage(chain(["db", "api", "web"]) + [spec("other")])
        stage.start("api")
        stage.start("other")
        stage.run(for: .seconds(1))
        #expect(stage.log.contains("0 db ready") && stage.launches(of: "web") == 0)
        stage.down("api")
        stage.run(for: .seconds(1))
        #expect(
            stage.log.suffix(6) == [
                "1000 api stop", "1000 api signal 15 group", "1000 api stopped",
                "1000 db stop", "1000 db signal 15 group", "1000 db stopped",
            ])
        #expect(stage.state("api") == .ended(.stopped))
        #expect(stage.host.violations == [])
    }

    @Test(
        "LIF-62: stop X stops its dependents first and leaves them wanted; start X brings them back"
    )
    func stopHolds() {
        var stage = Self.upStage()
        stage.command(.stop([stage.id("db")]), by: "uid 1000")
        stage.run(for: .seconds(1))
        let stops = stage.log.filter { $0.hasSuffix(" stop") }
        #expect(stops == ["1000 web stop", "1000 api stop", "1000 db stop"])
        #expect(stage.state("db") == .ended(.held("uid 1000")))
        guard case .waiting = stage.state("api"), case .waiting = stage.state("web") else {
            Issue.record("\(stage.state("api")), \(stage.state("web"))")
            return
        }
        #expect(stage.machine.blockers(of: stage.id("api")).map(\.2) == [.ended(.held("uid 1000"))])
        #expect(stage.state("other").isSettled)
        stage.start("db")
        stage.run(for: .seconds(1))
        #expect(stage.machine.unsettledServices == [])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-62: what stops because of another says so")
    func stopReasons() {
        var stage = Self.upStage()
        stage.down("db")
        let reasons = stage.decisions.compactMap { decision -> String? in
            guard case .stopRequested(let cause) = decision.what else { return nil }
            return "\(stage.machine.spec(of: decision.service ?? stage.id("db")).name): \(cause)"
        }
        #expect(reasons.contains { $0.hasPrefix("db: requested") })
        #expect(reasons.count { $0.contains("needStops") } == 2)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-63: down X also drops the wish for its dependents: start X leaves them down")
    func downDropsWish() {
        var stage = Self.upStage()
        stage.down("db")
        stage.run(for: .seconds(1))
        stage.start("db")
        stage.run(for: .seconds(1))
        #expect(stage.state("db").isSettled)
        #expect(stage.state("api") == .ended(.stopped) && stage.state("web") == .ended(.stopped))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-63: down X of what another still wants holds it")
    func downOfWanted() {
        var stage = Stage([
            spec("cache"),
            spec("app") { $0.needs = [Need("cache", required: false)] },
        ])
        stage.up()
        stage.run(for: .seconds(1))
        stage.down("cache")
        stage.run(for: .seconds(1))
        #expect(stage.state("cache") == .ended(.held("test")))
        #expect(stage.state("app").isSettled)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-64: start in the middle of a stop brings the service back once it is down")
    func startWhileStopping() {
        var stage = Self.upStage()
        stage.behave("db", Behaviour { $0.term = .seconds(3) })
        stage.stop("db")
        stage.run(for: .seconds(1))
        stage.start("db")
        stage.run(for: .seconds(10))
        #expect(stage.launches(of: "db") == 2 && stage.launches(of: "web") == 2)
        #expect(stage.machine.unsettledServices == [])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-65: a restart keeps the dependents, which see the need as lost")
    func restartKeepsDependents() {
        var stage = Self.upStage()
        stage.restart("db")
        stage.run(for: .seconds(1))
        #expect(stage.launches(of: "db") == 2)
        #expect(stage.launches(of: "api") == 1)
        #expect(stage.log.contains("1000 api need lost: ignore"))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-66: onNeedLost says what a dependent does", arguments: Need.OnNeedLost.allCases)
    func onNeedLost(rule: Need.OnNeedLost) {
        var stage = Stage(
            [spec("db"), spec("api") { $0.needs = [Need("db", onNeedLost: rule)] }],
            behaviours: ["db": Behaviour { $0.ready = .seconds(1) }])
        stage.up()
        stage.run(for: .seconds(2))
        stage.exit("db", .code(1))
        stage.run(for: .milliseconds(100))
        let isUp = stage.state("api").isSettled
        stage.run(for: .seconds(10))
        let lines = Array(stage.log(of: "api").dropFirst(2))
        switch rule {
        case .ignore: #expect(isUp && lines == ["2000 need lost: ignore"])
        case .wait:
            #expect(
                !isUp
                    && lines == [
                        "2000 need lost: wait", "2000 stop", "2000 signal 15 group",
                        "2000 stopped", "3500 launch", "3500 ready",
                    ])
        case .restart:
            #expect(
                isUp
                    && lines == [
                        "2000 need lost: restart", "3500 stop", "3500 signal 15 group",
                        "3500 stopped", "3500 launch", "3500 ready",
                    ])
        }
        #expect(stage.host.violations == [])
    }

    @Test("LIF-67: a need that is lost while another of the same turn is met keeps the launch back")
    func lostInTheSameTurn() {
        // `d` needs `a` and `c`; `c` restarts when `a` is back; `d` must not start on the old `c`.
        var stage = Stage([
            spec("a"), spec("c") { $0.needs = [Need("a", onNeedLost: .restart)] },
            spec("d") { $0.needs = [Need("a", onNeedLost: .wait), Need("c")] },
        ])
        stage.behave("c", Behaviour { $0.term = .seconds(3) })
        stage.up()
        stage.run(for: .seconds(1))
        stage.restart("a")
        stage.run(for: .seconds(10))
        #expect(stage.log(of: "c").suffix(2) == ["4000 launch", "4000 ready"])
        #expect(stage.log(of: "d").suffix(2) == ["4000 launch", "4000 ready"])
        #expect(stage.host.violations == [])
    }

    @Test(
        "LIF-68: an essential service that ends by itself, after its policy, ends the project",
        arguments: [Stoic.ExitStatus.code(0), .code(7), .signal(9, coreDumped: false)])
    func essential(status: Stoic.ExitStatus) {
        var stage = Stage(
            [
                spec("a") {
                    $0.isEssential = true; $0.restart.mode = .no
                }, spec("b"),
            ],
            behaviours: ["a": .exits(after: .seconds(5), status)])
        stage.up()
        stage.runOut()
        #expect(stage.elapsed == .seconds(5))
        #expect(stage.outcome?.cause == .essentialEnded(stage.id("a")))
        #expect(stage.outcome?.essentialStatus == status)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-68: an essential service that is restarted, or stopped by name, ends nothing")
    func essentialGoesOn() {
        var stage = Stage(
            [spec("a") { $0.isEssential = true }, spec("b")],
            behaviours: [
                "a": Behaviour { $0.exits = [.init(after: .seconds(5), status: .code(1)), nil] }
            ])
        stage.up()
        stage.run(for: .seconds(10))
        #expect(stage.launches(of: "a") == 2 && stage.machine.phase == .settled)
        stage.stop("a")
        stage.run(for: .seconds(10))
        #expect(stage.machine.phase == .settled)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-69: up ends by itself when every owned service has ended")
    func endsByItself() {
        var stage = Stage(
            [
                oneshot("a"), oneshot("b", needs: ["a"]),
                spec("c") { $0.startsAutomatically = false },
            ],
            behaviours: [
                "a": .exits(after: .seconds(1), .code(0)),
                "b": .exits(after: .seconds(2), .code(0)),
            ])
        stage.up()
        stage.runOut()
        #expect(stage.elapsed == .seconds(3))
        #expect(stage.outcome?.cause == .allEnded)
        #expect(stage.outcome?.failed == [])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-69: a held service is expected back: up does not end by itself")
    func heldKeepsItUp() {
        var stage = Stage([spec("a")])
        stage.up()
        stage.run(for: .seconds(1))
        stage.stop("a")
        stage.run(for: .seconds(100))
        #expect(!stage.host.isOver)
        stage.start("a")
        stage.run(for: .seconds(1))
        #expect(stage.state("a").isSettled)
        stage.down("a")
        stage.runOut()
        #expect(stage.outcome?.cause == .allEnded)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-70: what cannot be done is refused with its reason, and changes nothing")
    func refusals() {
        var stage = Stage([spec("a") { $0.startsAutomatically = false }, spec("b")])
        stage.up()
        stage.run(for: .seconds(1))
        let stranger = ServiceID(slot: 9)
        stage.command(.start([stranger]))
        stage.command(.signal(stage.id("a"), 10, .main))
        stage.command(.reload(stage.id("a"), 1))
        stage.command(.adopt(stage.id("a")))
        stage.command(.freeze(stage.id("a"), true))
        stage.command(.replicas(stage.id("a"), 3))
        #expect(
            stage.log.suffix(6) == [
                "1000 project refused start: unknownService",
                "1000 project refused signal: notRunning",
                "1000 project refused reload: notRunning", "1000 project refused adopt: notYet",
                "1000 project refused freeze: notYet", "1000 project refused replicas: notYet",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-71: a signal goes where it is sent; a reload by channel where there is one")
    func signals() {
        var stage = Stage(
            [spec("a"), spec("b")], behaviours: ["a": Behaviour { $0.hasChannel = true }])
        stage.up()
        stage.run(for: .seconds(1))
        stage.command(.signal(stage.id("b"), 10, .tree))
        stage.command(.reload(stage.id("a"), 1))
        stage.command(.reload(stage.id("b"), 1))
        #expect(
            Array(stage.effects.suffix(3)) == [
                .signal(Incarnation(2), 10, .tree), .sendReload(Incarnation(1)),
                .signal(Incarnation(2), 1, .main),
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-72: a restart by name skips a delay and forgives the past")
    func restartForgives() {
        var stage = Stage(
            [
                spec("a") {
                    $0.restart.limitCount = 1; $0.restart.backoff = .spaced(.seconds(20))
                }, spec("b"),
            ],
            behaviours: [
                "a": Behaviour {
                    $0.exits = [
                        .init(after: .seconds(1), status: .code(1)),
                        .init(after: .seconds(1), status: .code(1)), nil,
                    ]
                }
            ])
        stage.up()
        stage.run(for: .seconds(2))
        #expect(stage.state("a") == .backingOff)
        stage.restart("a")
        stage.run(for: .milliseconds(500))
        #expect(stage.launches(of: "a") == 2)
        stage.run(for: .seconds(30))
        #expect(stage.launches(of: "a") == 3 && stage.state("a").isSettled)
        #expect(stage.host.violations == [])
    }
}
