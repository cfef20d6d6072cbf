/// What can be run, by name.
enum Scenario {
    /// Where and how it runs.
    struct Setting {
        /// The path of the fixture that gets away.
        let runaway: String
        let missing: UInt32
        let cgroups: Bool

        func stage() throws -> Stage { try Stage(without: missing, cgroups: cgroups) }
    }

    static let all: [String: @Sendable (Setting) throws -> Void] = [
        "inherits-nothing": inheritsNothing,
        "closed-stdio": closedStdio,
        "failures": failures,
        "failures-leave-nothing": failuresLeaveNothing,
        "descriptors": descriptors,
        "attributes": attributes,
        "user": user,
        "death-of-launcher": retired,
        "cost": cost,
        "stop-cost": stopCost,
        "status": status,
        "stubborn": stubborn,
        "escape": escape,
        "chain": { try chain($0, "chain") },
        "sessions": { try chain($0, "sessions") },
        "nest": nest,
        "stray": stray,
        "orphans": orphans,
        "adopt": adopt,
        "signals": signals,
        "inherited-children": inheritedChildren,
        "leaf-again": leafAgain,
        "scarce": scarce,
        "die": die,
        "features": features,
        "hung-exec": hungExec,
        "unwatchable": unwatchable,
        "hears-once": hearsOnce,
        "recycled-main": recycledMain,
    ]
}
