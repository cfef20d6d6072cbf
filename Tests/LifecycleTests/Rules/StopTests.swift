import Stoic
import Testing

@Suite("LifecycleMachine, rules of stopping", .timeLimit(.minutes(1)))
struct StopTests {
    private func up(_ specs: [ServiceSpec], budget: Duration = .seconds(30)) throws -> RuleBench {
        var bench = try RuleBench(specs, exitBudget: budget)
        bench.command(.up)
        for spec in specs { bench.bringUp(spec.name) }
        return bench
    }

    @Test("LIF-11: signals within 500 ms are one request, a later one kills, a third does nothing")
    func impatience() throws {
        var bench = try up([ServiceSpec("a")])
        bench.command(.stopProject(.signal(2)))
        #expect(bench.signals == [15])
        bench.command(.stopProject(.signal(15)), after: .milliseconds(499))
        #expect(bench.verdicts().contains("event.noted"))
        #expect(bench.effects.isEmpty)
        bench.command(.stopProject(.signal(2)), after: .milliseconds(2))
        #expect(bench.effects.contains(.kill(bench.life("a"))))
        bench.command(.stopProject(.signal(2)), after: .milliseconds(50))
        #expect(bench.effects.isEmpty)
    }

    @Test("LIF-12: twelve that hang fit a budget of 15 s, and every one gets its SIGTERM")
    func budget() throws {
        let specs = (0..<12).map { number in
            ServiceSpec(
                ServiceName("s\(number)"),
                needs: number == 0 ? [] : [Need(ServiceName("s\(number - 1)"))])
        }
        var bench = try up(specs, budget: .seconds(15))
        let began = bench.now.awake
        bench.command(.stopProject(.requested("test")))
        for number in (0..<12).reversed() {
            let life = bench.life(ServiceName("s\(number)"))
            #expect(bench.signals.contains(15), "s\(number)")
            guard let wait = bench.armed(.kill(life)) else {
                Issue.record("s\(number) has no end")
                return
            }
            bench.send(.timer(.fired(.kill(life))), after: wait)
            #expect(bench.effects.contains(.kill(life)))
            bench.exit(ServiceName("s\(number)"), .signal(9, coreDumped: false))
        }
        #expect(bench.now.awake - began <= .seconds(15))
        guard case .ended = bench.machine.phase else {
            Issue.record("\(bench.machine.phase)")
            return
        }
    }

    @Test("LIF-13: the message goes only to an open channel; SIGTERM follows as answered or not")
    func message() throws {
        var bench = try up([ServiceSpec("a")])
        let life = bench.life("a")
        bench.send(.message(life, .channelOpened))
        bench.command(.stopProject(.requested("test")))
        #expect(bench.verdicts("a").contains("service.stopMessageSent"))
        #expect(bench.signals.isEmpty)
        #expect(bench.armed(.rung(life)) == .milliseconds(500))
        bench.send(.message(life, .stopping))
        #expect(bench.armed(.rung(life)) == .seconds(9), "1 s before SIGKILL")
        bench.send(.timer(.fired(.rung(life))), after: .seconds(9))
        #expect(bench.signals == [15])
    }

    @Test("LIF-14: stop holds a service; what needs it waits, wanted, until it is started")
    func stopHolds() throws {
        var bench = try up([ServiceSpec("a"), ServiceSpec("b", needs: [Need("a")])])
        bench.command(.stop([bench.id("a")]))
        #expect(bench.signals == [15], "b first, alone")
        bench.exit("b", .code(0))
        bench.exit("a", .code(0))
        #expect(bench.state("a") == .ended(.held("test")))
        #expect(bench.machine.blockers(of: bench.id("b")).count == 1)
        bench.command(.start([bench.id("a")]))
        bench.bringUp("a")
        #expect(bench.state("b") == .starting(bench.life("b"), .launching))
    }

    @Test("LIF-15: down drops the wish, and what nobody else wants stops too")
    func downDrops() throws {
        var manual = ServiceSpec("db")
        manual.startsAutomatically = false
        var bench = try RuleBench([
            manual, ServiceSpec("web", needs: [Need("db")]), ServiceSpec("x"),
        ])
        bench.command(.up)
        for name: ServiceName in ["db", "x", "web"] { bench.bringUp(name) }
        bench.command(.down([bench.id("web")]))
        bench.exit("web", .code(0))
        bench.exit("db", .code(0))
        #expect(bench.state("web") == .ended(.stopped))
        #expect(bench.state("db") == .ended(.stopped))
        #expect(bench.machine.phase == .settled, "x runs on")
    }

    @Test("LIF-16: a restart keeps what needs it, which does as its onNeedLost says")
    func needLost() throws {
        let needs: [Need.OnNeedLost] = [.ignore, .wait, .restart]
        var specs = [ServiceSpec("db")]
        for rule in needs {
            specs.append(
                ServiceSpec(ServiceName("\(rule)"), needs: [Need("db", onNeedLost: rule)]))
        }
        var bench = try up(specs)
        let before = needs.map { bench.life(ServiceName("\($0)")) }
        bench.command(.restart([bench.id("db")]))
        #expect(bench.signals == [15, 15], "db, and the one that waits")
        bench.exit("wait", .code(0))
        bench.exit("db", .code(0))
        #expect(bench.machine.blockers(of: bench.id("wait")).count == 1)
        bench.bringUp("db")
        #expect(bench.life("ignore") == before[0])
        #expect(bench.state("wait") == .starting(bench.life("wait"), .launching))
        #expect(bench.verdicts("restart").contains("service.stopping"))
    }

    @Test("LIF-17: a pause of ours puts off what judges a child, and the budget")
    func paused() throws {
        var bench = try up([ServiceSpec("a")])
        bench.command(.stopProject(.requested("test")))
        let life = bench.life("a")
        bench.send(.timer(.paused(.seconds(5))))
        #expect(bench.effects.contains(.postpone(.kill(life), by: .seconds(5))))
        #expect(bench.effects.contains(.postpone(.exitBudget, by: .seconds(5))))
    }

    @Test("LIF-18: a plan restarts what changed and what needs it, in order, and nothing else")
    func plan() throws {
        let specs = [ServiceSpec("a"), ServiceSpec("b", needs: [Need("a")]), ServiceSpec("c")]
        var bench = try up(specs)
        let c = bench.life("c")
        var changed = specs
        changed[0].launchDigest = 1
        let plan = try Plan(changed.reversed())
        #expect(
            bench.machine.changes(plan).map(\.kind) == [.relaunched(because: "a"), .changed])
        bench.command(.plan(plan))
        #expect(bench.verdicts("b").contains("service.stopping"))
        #expect(!bench.verdicts("a").contains("service.stopping"), "b first")
        bench.exit("b", .code(0))
        #expect(bench.verdicts("a").contains("service.stopping"))
        bench.exit("a", .code(0))
        bench.bringUp("a")
        bench.bringUp("b")
        #expect(bench.life("c") == c)
        #expect(bench.machine.isPlanSettled)
        bench.command(.plan(plan))
        #expect(bench.verdicts() == ["command.accepted", "plan.started", "plan.settled"])
    }
}
