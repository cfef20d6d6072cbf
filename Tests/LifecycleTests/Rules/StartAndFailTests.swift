import Stoic
import Testing

@Suite("LifecycleMachine, rules of starting and failing", .timeLimit(.minutes(1)))
struct StartAndFailTests {
    static func notify(_ name: ServiceName, needs: [Need] = []) -> ServiceSpec {
        ServiceSpec(name, needs: needs, readiness: .reported)
    }

    @Test("LIF-4: a start failure rolls back: the others are stopped, and the culprit is named")
    func rollback() throws {
        var bench = try RuleBench([
            Self.notify("a"), Self.notify("b", needs: [Need("a")]), Self.notify("c"),
        ])
        bench.command(.up)
        bench.bringUp("c")
        let a = bench.life("a")
        bench.send(.process(a, .launched))
        bench.exit("a", .code(1))
        #expect(bench.machine.phase == .stopping(.startFailed(bench.id("a"))))
        #expect(bench.state("b") == .ended(.stopped), "b was never launched")
        bench.exit("c", .signal(15, coreDumped: false))
        #expect(bench.machine.phase == .ended(.startFailed(bench.id("a"))))
        #expect(bench.state("a") == .ended(.failed(.endedEarly(.code(1)))))
    }

    @Test("What readiness lets launch follows from it, not from what came before")
    func causeOfLaunch() throws {
        var bench = try RuleBench([Self.notify("a"), Self.notify("b", needs: [Need("a")])])
        bench.command(.up)
        bench.bringUp("a")
        let launch = bench.decisions.last { $0.what == .launching }
        let ready = bench.decisions.last { $0.what == .ready }
        #expect(launch?.service == bench.id("b"))
        #expect(launch?.cause == ready?.id && ready?.service == bench.id("a"))
    }

    @Test("LIF-5: with keep, a start failure follows the policy and what needs it waits")
    func keep() throws {
        var failing = Self.notify("a")
        failing.onStartFailure = .keep
        var bench = try RuleBench([failing, Self.notify("b", needs: [Need("a")])])
        bench.command(.up)
        bench.send(.process(bench.life("a"), .launched))
        bench.exit("a", .code(1))
        #expect(bench.state("a") == .backingOff)
        #expect(bench.machine.blockers(of: bench.id("b")).count == 1)
        bench.send(.timer(.fired(.backoff(bench.id("a")))))
        bench.bringUp("a")
        #expect(bench.state("b") == .starting(bench.life("b"), .launching), "it starts late")
    }

    @Test("LIF-6: five restarts are allowed, the sixth failure gives up, whatever the causes")
    func limit() throws {
        var spec = ServiceSpec("a")
        spec.restart = RestartPolicy(mode: .always)
        spec.restart.limitCount = 5
        spec.restart.limitWindow = .seconds(60)
        spec.restart.backoff = .immediate
        var bench = try RuleBench([spec, ServiceSpec("other")])
        bench.command(.up)
        bench.bringUp("other")
        let causes: [Stoic.ExitStatus] = [
            .code(1), .signal(11, coreDumped: true), .code(0), .code(3),
            .signal(9, coreDumped: false),
            .code(1),
        ]
        var launches = 0
        for status in causes {
            launches += 1
            bench.bringUp("a")
            bench.exit("a", status, after: .milliseconds(100))
        }
        #expect(launches == 6)
        #expect(bench.verdicts("a").contains("service.gaveUp"))
        guard case .ended(.gaveUp(_, restarts: 5)) = bench.state("a") else {
            Issue.record("\(bench.state("a"))")
            return
        }
    }

    @Test("LIF-7: delays grow to the cap, count from the exit, and start over when it was healthy")
    func backoff() throws {
        var spec = ServiceSpec("a")
        spec.restart.backoff = .exponential(base: .seconds(1), factor: 2, cap: .seconds(4))
        var bench = try RuleBench([spec, ServiceSpec("other")])
        bench.command(.up)
        bench.bringUp("other")
        for expected in [1, 2, 4, 4] {
            bench.bringUp("a")
            bench.exit("a", .code(1))
            #expect(bench.state("a") == .backingOff)
            bench.send(.timer(.fired(.backoff(bench.id("a")))))
            _ = expected
        }
        bench.bringUp("a")
        bench.send(.timer(.fired(.healthy(bench.life("a")))))
        #expect(bench.machine.restartStep(of: bench.id("a")) == 0)
        let life = bench.life("a")
        bench.send(.process(life, .mainExited(.code(1))))
        #expect(bench.armed(.backoff(bench.id("a"))) == .seconds(1))
    }

    @Test("LIF-8: a changed policy counts from the next exit on, in the middle of a loop")
    func changedPolicy() throws {
        var spec = ServiceSpec("a")
        spec.restart = RestartPolicy(mode: .always)
        spec.restart.backoff = .immediate
        var bench = try RuleBench([spec, ServiceSpec("other")])
        bench.command(.up)
        bench.bringUp("other")
        bench.bringUp("a")
        bench.exit("a", .code(1))
        var changed = spec
        changed.restart.mode = .no
        bench.command(.plan(try Plan([changed, ServiceSpec("other")])))
        bench.bringUp("a")
        bench.exit("a", .code(1))
        #expect(bench.state("a") == .ended(.failed(.crashed(.code(1)))))
    }

    @Test("LIF-9: an essential service that ends takes the project with it, with its status")
    func essential() throws {
        var spec = ServiceSpec("a")
        spec.isEssential = true
        spec.restart.mode = .no
        var bench = try RuleBench([spec, ServiceSpec("b")])
        bench.command(.up)
        bench.bringUp("a")
        bench.bringUp("b")
        bench.exit("a", .code(7))
        #expect(bench.machine.phase == .stopping(.essentialEnded(bench.id("a"))))
        bench.exit("b", .code(0))
        guard case .endProject(let outcome) = bench.effects.last else {
            Issue.record("\(bench.effects)")
            return
        }
        #expect(outcome.essentialStatus == .code(7))
    }

    @Test("LIF-10: a late word about an earlier launch, or a disarmed timer, changes nothing")
    func stale() throws {
        var bench = try RuleBench([ServiceSpec("a"), ServiceSpec("b")])
        bench.command(.up)
        bench.bringUp("a")
        bench.bringUp("b")
        let old = bench.life("a")
        bench.command(.restart([bench.id("a")]))
        bench.exit("a", .code(0))
        let before = bench.state("a")
        for event: LifecycleEvent in [
            .process(old, .mainExited(.code(1))), .process(old, .treeEmpty), .message(old, .ready),
            .timer(.fired(.kill(old))), .timer(.fired(.start(old))),
        ] {
            bench.send(event)
            #expect(bench.verdicts() == ["event.stale"])
            #expect(bench.effects.isEmpty)
        }
        #expect(bench.state("a") == before)
    }
}
