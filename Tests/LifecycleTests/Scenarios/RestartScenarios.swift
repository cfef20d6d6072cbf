import Simulation
import Testing

@testable import Stoic

@Suite("LifecycleMachine, restarts", .timeLimit(.minutes(1)))
struct RestartScenarios {
    /// Ready at once, and crashing so long after each launch.
    static func crashing(after: Duration) -> Behaviour { .exits(after: after, .code(1)) }

    static func delays(_ stage: Stage, of name: ServiceName = "a") -> [Int] {
        stage.decisions.compactMap {
            guard case .restartScheduled(let after, _) = $0.what, $0.service == stage.id(name)
            else { return nil }
            return after.milliseconds
        }
    }

    @Test("LIF-30: delays double from 500 ms up to 30 s")
    func backoff() {
        var stage = Stage(
            [spec("a") { $0.restart.limitCount = 100 }],
            behaviours: ["a": Self.crashing(after: .milliseconds(10))])
        stage.up()
        stage.run(for: .seconds(121))
        #expect(
            Self.delays(stage) == [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-30: the default delays are jittered by U(0.8, 1)")
    func jitter() {
        var stage = Stage(
            [spec("a") { $0.restart = RestartPolicy() }],
            behaviours: ["a": Self.crashing(after: .milliseconds(10))])
        stage.up()
        stage.run(for: .seconds(100))
        let whole = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]
        for (delay, most) in zip(Self.delays(stage), whole) {
            #expect(delay <= most && delay * 10 >= most * 8)
        }
        #expect(Self.delays(stage).count >= whole.count)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-31: delays start over after 30 s of being ready, and not before")
    func reset() {
        var stage = Stage(
            [spec("a")],
            behaviours: [
                "a": Behaviour {
                    $0.exits = [
                        .init(after: .seconds(1), status: .code(1)),
                        .init(after: .seconds(29), status: .code(1)),
                        .init(after: .seconds(31), status: .code(1)), nil,
                    ]
                }
            ])
        stage.up()
        stage.run(for: .seconds(100))
        #expect(Self.delays(stage) == [500, 1_000, 500])
        #expect(stage.log.contains("61500 a healthy"))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-31: time in which it was not ready does not count")
    func interruptedReadiness() {
        var stage = Stage(
            [spec("a")],
            behaviours: [
                "a": Behaviour {
                    $0.exits = [
                        .init(after: .seconds(1), status: .code(1)), nil,
                    ]
                }
            ])
        stage.up()
        stage.run(for: .seconds(20))
        stage.say("a", .notReady("busy"))
        stage.run(for: .seconds(20))
        stage.say("a", .ready)
        stage.run(for: .seconds(29))
        #expect(!stage.log.contains { $0.hasSuffix("healthy") })
        stage.run(for: .seconds(1))
        #expect(stage.log.last == "70000 a healthy")
        #expect(stage.host.violations == [])
    }

    @Test("LIF-32: the limit holds whatever the mix of causes: max 5 is 6 starts, then gave up")
    func limit() {
        var stage = Stage(
            [
                spec("a") {
                    $0.restart.mode = .always
                    $0.restart.backoff = .exponential(
                        base: .milliseconds(100), factor: 2, cap: .seconds(1))
                    $0.restart.limitCount = 5
                    $0.restart.limitWindow = .seconds(60)
                    $0.onStartFailure = .keep
                    $0.startTimeout = .milliseconds(150)
                }
            ],
            behaviours: [
                "a": Behaviour {
                    $0.failedLaunches = 0
                    $0.exits = [
                        .init(after: .milliseconds(200), status: .code(1)),
                        .init(after: .milliseconds(200), status: .signal(11, coreDumped: true)),
                        .init(after: .milliseconds(200), status: .code(0)),
                    ]
                }
            ])
        stage.up()
        stage.run(for: .seconds(1))
        stage.behave("a", Behaviour { $0.ready = nil })
        stage.runOut()
        #expect(stage.launches(of: "a") == 6)
        let delays = Self.delays(stage)
        #expect(delays == delays.sorted() && delays.count == 5)
        guard case .ended(.gaveUp(_, restarts: 5)) = stage.state("a") else {
            Issue.record("\(stage.state("a"))")
            return
        }
        #expect(stage.outcome?.failed == [stage.id("a")])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-32: restarts outside the window do not count")
    func window() {
        var stage = Stage(
            [
                spec("a") {
                    $0.restart.limitCount = 2
                    $0.restart.limitWindow = .seconds(60)
                }
            ], behaviours: ["a": Self.crashing(after: .seconds(40))])
        stage.up()
        stage.run(for: .seconds(1_000))
        #expect(stage.launches(of: "a") > 20)
        #expect(stage.host.violations == [])
    }

    @Test(
        "LIF-33: what follows an exit is what the policy says",
        arguments: [
            (RestartPolicy.Mode.no, Stoic.ExitStatus.code(1), false), (.no, .code(0), false),
            (.onFailure, .code(1), true), (.onFailure, .code(0), false),
            (.onFailure, .signal(15, coreDumped: false), true), (.onFailure, .unknown, true),
            (.always, .code(1), true), (.always, .code(0), true),
        ])
    func policy(mode: RestartPolicy.Mode, status: Stoic.ExitStatus, again: Bool) {
        var stage = Stage(
            [spec("a") { $0.restart.mode = mode }, spec("b")],
            behaviours: ["a": .exits(after: .seconds(1), status)])
        stage.up()
        stage.run(for: .milliseconds(1_100))
        #expect((stage.state("a") == .backingOff) == again)
        if !again {
            #expect(
                stage.state("a")
                    == .ended(
                        status.isSuccess ? .exited(status) : .failed(.crashed(status))))
        }
        #expect(stage.host.violations == [])
    }

    @Test("LIF-34: the policy in force is the one in the config now")
    func reloadWhileLooping() {
        var stage = Stage(
            [spec("a") { $0.restart.mode = .always }, spec("b")],
            behaviours: ["a": Self.crashing(after: .milliseconds(100))])
        stage.up()
        stage.run(for: .seconds(5))
        let before = stage.launches(of: "a")
        stage.plan([spec("a") { $0.restart.mode = .no }, spec("b")])
        stage.run(for: .seconds(60))
        #expect(stage.launches(of: "a") <= before + 1)
        #expect(stage.state("a") == .ended(.failed(.crashed(.code(1)))))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-35: a delay counts from the exit; the launch also waits for the empty tree")
    func tree() {
        var stage = Stage(
            [spec("a")],
            behaviours: [
                "a": Behaviour {
                    $0.exits = [.init(after: .seconds(1), status: .code(1)), nil]
                    $0.tree = nil
                }
            ])
        stage.up()
        stage.run(for: .seconds(20))
        #expect(
            stage.log(of: "a") == [
                "0 launch", "0 ready", "1000 failed: crashed", "1000 again in 500",
                "11000 killed", "11000 stopped", "11000 launch", "11000 ready",
            ])
        #expect(stage.effects.contains(.signal(Incarnation(1), 15, .tree)))
        #expect(stage.host.violations == [])
    }

    @Test("LIF-36: a tree that outlives SIGKILL keeps its service from starting until it is empty")
    func abandonedTree() {
        var stage = Stage(
            [spec("a")],
            behaviours: [
                "a": Behaviour {
                    $0.exits = [.init(after: .seconds(1), status: .code(1)), nil]
                    $0.tree = .seconds(60)
                    $0.survivesKill = true
                }
            ])
        stage.up()
        stage.run(for: .seconds(50))
        #expect(stage.log(of: "a").last == "12000 abandoned")
        #expect(stage.machine.unsettledServices == [stage.id("a")])
        stage.run(for: .seconds(20))
        #expect(
            stage.log(of: "a").suffix(4) == [
                "61000 gone at last", "61000 stopped", "61000 launch", "61000 ready",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-37: a delay counts boot time: it goes on while the machine sleeps")
    func sleeping() {
        var stage = Stage(
            [spec("a") { $0.restart.backoff = .spaced(.seconds(20)) }],
            behaviours: [
                "a": Behaviour { $0.exits = [.init(after: .seconds(1), status: .code(1)), nil] }
            ])
        stage.up()
        stage.run(for: .seconds(2))
        stage.passAsleep(for: .seconds(100))
        #expect(stage.launches(of: "a") == 2)
        #expect(stage.host.violations == [])
    }

    @Test("LIF-38: a missed watchdog is a crash: SIGABRT, then SIGKILL at stopTimeout")
    func watchdog() {
        var stage = Stage(
            [spec("a") { $0.watchdog = .seconds(5) }], behaviours: ["a": .stubborn])
        stage.up()
        stage.run(for: .seconds(3))
        stage.say("a", .watchdogPing)
        stage.run(for: .seconds(20))
        #expect(
            stage.log(of: "a") == [
                "0 launch", "0 ready", "8000 failed: watchdog", "8000 again in 500",
                "8000 signal 6 main", "18000 killed", "18000 stopped", "18000 launch",
                "18000 ready", "23000 failed: watchdog", "23000 again in 1000",
                "23000 signal 6 main",
            ])
        #expect(stage.host.violations == [])
    }

    @Test("LIF-39: a service that ends during its stop was stopped, whatever its exit code")
    func exitDuringStop() {
        var stage = Stage(
            [spec("a") { $0.restart.mode = .always }, spec("b")],
            behaviours: ["a": Behaviour { $0.term = nil }])
        stage.up()
        stage.run(for: .seconds(1))
        stage.down("a")
        stage.run(for: .seconds(1))
        stage.exit("a", .code(1))
        stage.run(for: .seconds(60))
        #expect(stage.launches(of: "a") == 1)
        #expect(stage.state("a") == .ended(.stopped))
        #expect(stage.host.violations == [])
    }
}
