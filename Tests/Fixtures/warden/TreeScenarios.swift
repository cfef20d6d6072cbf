import CProcess
import EventLoop
import Glibc
import Orchestrator
import Stoic

extension Scenario {
    static func status(_ setting: Setting) throws {
        let stage = try setting.stage()
        let rows: [(String, ExitStatus)] = [
            ("exit 0", .code(0)), ("exit 7", .code(7)),
            ("kill -KILL $$", .signal(SIGKILL, coreDumped: false)),
            ("kill -TERM $$", .signal(SIGTERM, coreDumped: false)),
        ]
        for (script, status) in rows {
            let actor = try stage.shell(script)
            try stage.wait { actor.isEmpty }
            try check(actor.facts == [.mainExited(status), .empty], "\(script): \(actor.facts)")
            try check(!actor.tree.contains(actor.pid) && actor.tree.members().isEmpty, "not empty")
        }
        try stage.close()
    }

    /// The leader ends at SIGTERM, its child of the same group does not.
    static func stubborn(_ setting: Setting) throws {
        let stage = try setting.stage()
        let actor = try stage.launch(setting.runaway, "stubborn")
        try stage.wait { actor.readyPid != nil }
        actor.tree.signal(SIGTERM, to: .group)
        try stage.wait { actor.mainExited }
        try check(actor.facts == [.mainExited(.signal(SIGTERM, coreDumped: false))], "too empty")
        let survivors = actor.tree.members()
        try check(survivors.map(\.pid) == [actor.readyPid], "survivors: \(survivors)")
        try check(survivors[0].command.hasSuffix("runaway stubborn"), "\(survivors[0])")
        actor.tree.kill()
        try stage.wait { actor.isEmpty }
        try check(!lives(survivors[0].pid), "it lives")
        try stage.close()
    }

    static func escape(_ setting: Setting) throws {
        let stage = try setting.stage()
        let bystander = try stage.launch(setting.runaway, "hold")
        let actor = try stage.launch(setting.runaway, "escape")
        try stage.wait { actor.readyPid != nil && bystander.readyPid != nil && actor.mainExited }
        guard let pid = actor.readyPid else { return }
        try check(actor.facts == [.mainExited(.code(0))], "too empty: \(actor.facts)")
        try check(actor.tree.contains(pid), "the escapee has no owner")
        try check(!bystander.tree.contains(pid), "the escapee has the wrong owner")
        try check(actor.tree.members().map(\.pid) == [pid], "\(actor.tree.members())")
        actor.tree.signal(SIGTERM, to: .group)
        try check(lives(pid), "a signal to the group reached another group")
        actor.tree.signal(SIGTERM, to: .tree)
        try stage.wait { actor.isEmpty }
        try check(!lives(pid) && lives(bystander.pid) && stage.strays.isEmpty, "wrong ones live")
        bystander.tree.kill()
        try stage.wait { bystander.isEmpty }
        try stage.close()
    }

    static func chain(_ setting: Setting, _ kind: String) throws {
        let stage = try setting.stage()
        for _ in 0..<5 {
            let actor = try stage.launch(setting.runaway, kind)
            try stage.wait { actor.readyPid != nil && actor.mainExited }
            try check(!actor.isEmpty, "the chain broke by itself")
            actor.tree.kill()
            try stage.wait { actor.isEmpty && actor.output.hasEnded }
        }
        try check(stage.strays.isEmpty, "strays: \(stage.strays)")
        try stage.close()
    }

    /// The end of the pipe proves it: nobody is left who holds it.
    static func nest(_ setting: Setting) throws {
        let stage = try setting.stage()
        let actor = try stage.launch(setting.runaway, "nest")
        try stage.wait { actor.readyPid != nil }
        try check(actor.tree.members().count == 3, "\(actor.tree.members())")
        actor.tree.signal(SIGTERM, to: .tree)
        try check(actor.tree.members().count == 3, "SIGTERM was not ignored")
        actor.tree.kill()
        try stage.wait { actor.isEmpty && actor.output.hasEnded }
        try check(actor.facts.count == 2, "\(actor.facts)")
        try stage.close()
    }

    /// Nothing is left to tell whose it is: it belongs to the project.
    static func stray(_ setting: Setting) throws {
        let stage = try setting.stage()
        let actor = try stage.launch(setting.runaway, "stray")
        try stage.wait { actor.readyPid != nil && actor.mainExited }
        guard let pid = actor.readyPid else { return }
        if setting.cgroups {
            try check(actor.tree.contains(pid) && !actor.isEmpty, "it got out of its cgroup")
            actor.tree.kill()
        }
        try stage.wait { actor.isEmpty }
        let strays = stage.orphans.strays().map(\.pid)
        try check(strays == (setting.cgroups ? [] : [pid]), "strays: \(strays)")
        let isReported = stage.strays.contains { $0.pid == pid }
        try check(isReported != setting.cgroups, "reported: \(stage.strays)")
        var isDone = false
        stage.orphans.killStrays { isDone = true }
        try stage.wait { isDone && actor.output.hasEnded }
        try check(!lives(pid) && stage.orphans.strays().isEmpty, "a stray lives")
        try stage.close()
    }

    /// Orphans that end by themselves leave no zombies, and take nobody's status.
    static func orphans(_ setting: Setting) throws {
        let stage = try setting.stage()
        let busy = try stage.shell("for i in $(seq 50); do (: &) ; done; echo ready $$; sleep 30")
        let coded = try stage.shell("exit 7")
        try stage.wait { busy.readyPid != nil && coded.isEmpty }
        try check(coded.facts == [.mainExited(.code(7)), .empty], "\(coded.facts)")
        try stage.wait { children(of: getpid()) == [busy.pid] }
        busy.tree.kill()
        try stage.wait { busy.isEmpty }
        try stage.close()
    }

    static func adopt(_ setting: Setting) throws {
        let stage = try setting.stage()
        let other = try stage.launch(setting.runaway, "hold")
        let actor = try stage.shell("sleep 30 & echo ready $!; exec sleep 30")
        try stage.wait { actor.readyPid != nil && other.readyPid != nil }
        guard let pid = actor.readyPid else { return }
        for stranger in [0, -1, 1, getpid(), getppid(), other.pid, 4_000_000] {
            try check(!actor.tree.adoptMain(stranger), "\(stranger) was adopted")
        }
        try check(actor.tree.adoptMain(pid) && actor.tree.mainPid == pid, "its child was refused")
        try check(actor.tree.adoptMain(actor.pid), "no way back")
        try check(actor.tree.adoptMain(pid), "no way there again")
        actor.tree.signal(SIGKILL, to: .main)
        try stage.wait { actor.mainExited }
        try check(!actor.isEmpty && lives(actor.pid), "the launched process is gone")
        try check(!actor.tree.adoptMain(actor.pid), "adopted after the main ended")
        actor.tree.kill()
        try stage.wait { actor.isEmpty }
        try check(actor.facts.count == 2, "\(actor.facts)")

        // A daemon that names its child and leaves: we become its parent, so its code is known.
        let daemon = try stage.shell(
            "sh -c 'trap \"exit 9\" USR1; trap \"\" USR2; sleep 30 & echo ready $$; wait' & "
                + "trap 'exit 0' USR2; wait")
        try stage.wait { daemon.readyPid != nil }
        guard let left = daemon.readyPid else { return }
        try check(daemon.tree.adoptMain(left), "the daemon's child was refused")
        daemon.tree.signal(SIGUSR2, to: .group)
        try stage.wait { !lives(daemon.pid) }
        daemon.tree.signal(SIGUSR1, to: .main)
        try stage.wait { daemon.mainExited }
        try check(daemon.facts == [.mainExited(.code(9))], "\(daemon.facts)")
        other.tree.kill()
        daemon.tree.kill()
        try stage.wait { other.isEmpty && daemon.isEmpty }
        try check(daemon.facts.count == 2, "\(daemon.facts)")
        try stage.close()
    }

    /// SIGCONT follows: who is stopped hears SIGTERM too.
    static func signals(_ setting: Setting) throws {
        let stage = try setting.stage()
        let actor = try stage.shell(
            "trap 'echo term; exit 3' TERM; echo ready $$; while :; do sleep 0.02; done")
        try stage.wait { actor.readyPid != nil }
        actor.tree.signal(SIGSTOP, to: .main)
        actor.tree.signal(SIGTERM, to: .main)
        try stage.wait { actor.isEmpty && actor.output.hasEnded }
        try check(actor.facts == [.mainExited(.code(3)), .empty], "\(actor.facts)")
        try check(actor.output.lines.count { $0 == "term" } == 1, actor.output.text)
        try stage.close()
    }

    /// Started by the test as what a shell becomes that has children of its own.
    static func inheritedChildren(_ setting: Setting) throws {
        let before = children(of: getpid())
        try check(before.count == 1, "the test left \(before.count) children to us")
        let stage = try setting.stage()
        let actor = try stage.shell("exit 0")
        try stage.wait { actor.isEmpty }
        try check(stage.strays.isEmpty && stage.orphans.strays().isEmpty, "claimed as a stray")
        var isDone = false
        stage.orphans.killStrays { isDone = true }
        try check(isDone && lives(before[0]), "it was killed")
        Glibc.kill(before[0], SIGKILL)
        try stage.wait { children(of: getpid()).isEmpty }
        try stage.close()
    }

    /// A leaf serves one incarnation after the other, and goes at the end.
    static func leafAgain(_ setting: Setting) throws {
        let stage = try setting.stage()
        guard stage.spawner.features.entersCgroups,
            let forest = CgroupForest.plant(project: "warden-again-\(getpid())")
        else { exit(77) }
        guard let first = forest.leaf(named: "a") else { throw Complaint(text: "no leaf") }
        try check(forest.leaf(named: "a") === first && forest.leaf(named: "../x") == nil, "names")
        for round in 0..<4 {
            guard let leaf = forest.leaf(named: "a") else { throw Complaint(text: "no leaf") }
            try check((leaf === first) == (round < 2) && !leaf.isPopulated, "round \(round)")
            var request = stage.request(
                round == 0 ? ["/bin/sleep", "0.05"] : [setting.runaway, "nest"])
            request.cgroup = leaf.directory.number
            guard case .launched(let process) = try stage.outcome(of: request) else {
                throw Complaint(text: "no launch into the leaf")
            }
            let tree = try ProcessTree(
                process, token: request.token, leaf: leaf, orphans: stage.orphans)
            try check(leaf.isPopulated && leaf.processes().contains(process.pid), "not in it")
            if round > 0 { tree.kill() }
            try stage.wait { tree.isEmpty }
            tree.close()
        }
        forest.close()
        try check(!forest.exists, "the forest stands")
        try stage.close()
    }
}
