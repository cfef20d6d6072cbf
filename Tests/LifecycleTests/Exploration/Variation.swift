import Stoic

/// A policy that differs from the default, on one service of a graph.
struct Variation: Sendable, CustomStringConvertible {
    let description: String
    var opensChannel = false
    let vary: @Sendable (inout ServiceSpec) -> Void

    init(
        _ name: String, opensChannel: Bool = false,
        vary: @escaping @Sendable (inout ServiceSpec) -> Void
    ) {
        description = name
        self.opensChannel = opensChannel
        self.vary = vary
    }

    private static func oneshot(
        _ name: String, reruns: Bool = false, keepsTree: Bool = false
    ) -> Variation {
        Variation(name) {
            $0.kind = .oneshot(rerunsWithNeeds: reruns, keepsTree: keepsTree)
            $0.readiness = .completion
        }
    }

    private static func needs(
        _ name: String, change: @escaping @Sendable (inout Need) -> Void
    ) -> Variation {
        Variation(name) { spec in
            for index in spec.needs.indices { change(&spec.needs[index]) }
        }
    }

    private static func ladder(_ name: String, channels: Bool, _ rungs: [Rung]) -> Variation {
        Variation(name, opensChannel: channels) { $0.ladder = rungs }
    }

    /// Those about what a service needs: only graphs with edges tell them from the default.
    static let ofNeeds = [
        needs("onNeedLost: wait") { $0.onNeedLost = .wait },
        needs("onNeedLost: restart") { $0.onNeedLost = .restart },
        needs("condition: started") { $0.condition = .started },
        needs("condition: completed") { $0.condition = .completed },
        needs("not required") { $0.isRequired = false },
        needs("not required, restart") {
            $0.isRequired = false
            $0.onNeedLost = .restart
        },
        oneshot("rerun: withNeeds", reruns: true),
        oneshot("rerun: withNeeds, keepTree", reruns: true, keepsTree: true),
    ]

    static let ofServices = [
        oneshot("oneshot"),
        oneshot("oneshot, keepTree", keepsTree: true),
        Variation("ready: started") { $0.readiness = .launch },
        Variation("restart: no") { $0.restart.mode = .no },
        Variation("restart: always") { $0.restart.mode = .always },
        Variation("no delay") { $0.restart.backoff = .immediate },
        Variation("no restarts left") { $0.restart.limitCount = 0 },
        Variation("essential") { $0.isEssential = true },
        Variation("essential, restart: no") {
            $0.isEssential = true
            $0.restart.mode = .no
        },
        Variation("startAttempts: 2") { $0.startAttempts = 2 },
        Variation("onStartFailure: keep") { $0.onStartFailure = .keep },
        Variation("onStartFailure: keep, restart: no") {
            $0.onStartFailure = .keep
            $0.restart.mode = .no
        },
        Variation("watchdog") { $0.watchdog = .seconds(1) },
        Variation("live: threshold 2") { $0.liveThreshold = 2 },
        Variation("start: manual") { $0.startsAutomatically = false },
    ]

    static let ofStops = [
        Variation("stopTimeout: 0s") { $0.stopTimeout = .zero },
        ladder("a message and SIGTERM", channels: true, Rung.standard),
        ladder("only a message", channels: true, [Rung(.message)]),
        ladder("no rungs", channels: false, []),
        ladder(
            "SIGINT, SIGQUIT, SIGTERM", channels: false,
            [Rung(.signal(2, .main)), Rung(.signal(3, .group)), Rung(.signal(15, .tree))]),
        ladder(
            "a command, then a message", channels: true, [Rung(.command(0)), Rung(.message)]),
    ]

    static let all = ofNeeds + ofServices + ofStops
}
