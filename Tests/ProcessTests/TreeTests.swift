import Testing

@Suite("Process trees", .serialized, .timeLimit(.minutes(1)))
struct TreeTests {
    @Test("PRC-20: codes, signals, and a status nobody else takes", arguments: Warden.Kernel.here)
    func status(_ kernel: Warden.Kernel) async { await expectHolds("status", kernel) }

    @Test("PRC-21: the leader ends, a stubborn child does not", arguments: Warden.Kernel.here)
    func stubborn(_ kernel: Warden.Kernel) async { await expectHolds("stubborn", kernel) }

    @Test(
        "PRC-22: a daemon in a session of its own, its environment empty",
        arguments: Warden.Kernel.here)
    func escape(_ kernel: Warden.Kernel) async { await expectHolds("escape", kernel) }

    @Test("PRC-23: a chain of forks and exits is killed", arguments: Warden.Kernel.here)
    func chain(_ kernel: Warden.Kernel) async { await expectHolds("chain", kernel) }

    @Test("PRC-24: the same, each in its own session", arguments: Warden.Kernel.here)
    func sessions(_ kernel: Warden.Kernel) async { await expectHolds("sessions", kernel) }

    @Test("PRC-25: three sessions deep, all ignoring SIGTERM", arguments: Warden.Kernel.here)
    func nest(_ kernel: Warden.Kernel) async { await expectHolds("nest", kernel) }

    @Test("PRC-26: a stray is reported, and killed with the project", arguments: Warden.Kernel.here)
    func stray(_ kernel: Warden.Kernel) async { await expectHolds("stray", kernel) }

    @Test("PRC-27: orphans leave no zombies", arguments: Warden.Kernel.here)
    func orphans(_ kernel: Warden.Kernel) async { await expectHolds("orphans", kernel) }

    @Test("PRC-28: MAINPID names a member or is refused", arguments: Warden.Kernel.here)
    func adopt(_ kernel: Warden.Kernel) async { await expectHolds("adopt", kernel) }

    @Test("PRC-29: a stopped process hears SIGTERM, once", arguments: Warden.Kernel.here)
    func signals(_ kernel: Warden.Kernel) async { await expectHolds("signals", kernel) }

    @Test("PRC-30: children we had before are left alone", arguments: Warden.Kernel.here)
    func inheritedChildren(_ kernel: Warden.Kernel) async {
        await expectHolds("inherited-children", kernel, shell: "sleep 30 >&- 2>&- &")
    }

    @Test("PRC-31: a leaf serves again, and anew after a kill")
    func leafAgain() async { await expectHolds("leaf-again") }

    @Test("PRC-33: a leaf nobody can be born in", arguments: ["status", "nest", "escape"])
    func refusedLeaf(_ scenario: String) async {
        guard Warden.hasCgroups else { return complain("SKIPPED: no cgroup2 tree") }
        await expectHolds(scenario, .cgroupsRefused)
    }

    @Test("PRC-32: 300 strict stops, one after the other")
    func stopCost() async {
        let result = await Warden.run("stop-cost", .full)
        complain(result.output)
        #expect(result.code == 0, "\(result.output)")
    }
}
