import CProcess
import EventLoop
import Glibc
import Orchestrator
import Stoic

extension Scenario {
    private static let report =
        listing + "; grep -E '^Sig(Blk|Ign)' /proc/self/status; env"

    /// Not by a pattern: the shell would list the descriptor it looks with.
    private static let listing =
        "for f in $(seq 0 300); do [ ! -e /proc/$$/fd/$f ] || echo fd $f; done"

    /// A parent with every bad habit: stray descriptors, ignored and blocked signals.
    static func inheritsNothing(_ setting: Setting) throws {
        var ends: [CInt] = [-1, -1]
        try check(unsafe pipe(&ends) == 0, "no pipe")
        try check(dup2(ends[1], 3) == 3 && dup2(ends[1], 250) == 250, "no stray descriptors")
        for number in [SIGPIPE, SIGINT, SIGQUIT, SIGCHLD, SIGHUP] {
            Glibc.signal(number, SIG_IGN)
        }
        let stage = try setting.stage()
        var blocked = sigset_t()
        for number in [SIGTERM, SIGUSR1, SIGUSR2] { unsafe sigaddset(&blocked, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &blocked, nil)
        unsafe setenv("NOTIFY_SOCKET", "/outer", 1)
        let actor = try stage.shell(report)
        try stage.wait { actor.isEmpty && actor.output.hasEnded }
        let lines = actor.output.lines
        let open = lines.filter { $0.hasPrefix("fd ") }.map { $0.dropFirst(3) }
        try check(Set(open) == ["0", "1", "2"], "open in the child: \(open)")
        for line in lines where line.hasPrefix("Sig") {
            try check(line.hasSuffix("\t0000000000000000"), "signals of the child: \(line)")
        }
        try check(!actor.output.text.contains("NOTIFY_SOCKET"), "an outer manager's socket")
        try stage.close()
    }

    /// Started by the test with 0, 1 and 2 closed.
    static func closedStdio(_ setting: Setting) throws {
        let stage = try setting.stage()
        for number: CInt in 0...2 {
            try check(fcntl(number, F_GETFD) >= 0, "\(number) is closed still")
        }
        let actor = try stage.shell("echo heard; cat; echo error >&2")
        try stage.wait { actor.isEmpty && actor.output.hasEnded }
        try check(actor.output.text == "heard\nerror\n", "output: \(actor.output.text)")
        try stage.close()
    }

    static func failures(_ setting: Setting) throws {
        let stage = try setting.stage()
        let directory = "/tmp/warden-\(getpid())"
        try check(unsafe mkdir(directory, 0o755) == 0, "no directory")
        defer { unsafe system("rm -rf \(directory)") }
        let setup =
            "cd \(directory) && echo data >plain && printf '#!/no/such\\n' >lost && "
            + "echo 'echo hi' >bare && chmod +x lost bare && mkdir sub"
        try check(unsafe system(setup) == 0, "no files")
        let rows: [(String, String, CInt)] = [
            ("/no/such", "run /no/such", ENOENT),
            ("nowhere", "run nowhere (it is in no directory of PATH)", ENOENT),
            ("", "run  (it has no name)", ENOENT),
            ("./plain", "run ./plain (it has no permission to be executed)", EACCES),
            ("./sub", "run ./sub (it is a directory)", EACCES),
            ("./lost", "run ./lost (it is there, its interpreter is not)", ENOENT),
            ("./bare", "run ./bare (no program, and no script with a #! line)", ENOEXEC),
        ]
        for (command, step, number) in rows {
            var request = stage.request([command])
            request.workingDirectory = directory
            try expect(stage, request, step, number)
        }
        var request = stage.request(["/bin/true"])
        request.workingDirectory = "/no/where"
        try expect(stage, request, "enter the working directory /no/where", ENOENT)
        request.workingDirectory = "/etc/passwd"
        try expect(stage, request, "enter the working directory /etc/passwd", ENOTDIR)
        request = stage.request(["/bin/echo", "a\0b"])
        try expect(stage, request, "run /bin/echo", EINVAL)
        try expect(stage, stage.request([]), "run an empty command", EINVAL)
        request = stage.request(["/bin/true", String(repeating: "x", count: 200_000)])
        try expect(stage, request, "run /bin/true", E2BIG)
        request = stage.request(["/bin/true"])
        request.descriptors = [.init(source: 4000, target: 1)]
        try expect(stage, request, "pass descriptors to /bin/true", EBADF)
        request.descriptors = (0..<200).map { .init(source: 0, target: 3 + $0) }
        try expect(stage, request, "run /bin/true", E2BIG)
        try stage.close()
    }

    private static func expect(
        _ stage: Stage, _ request: LaunchRequest, _ step: String, _ number: CInt
    ) throws {
        switch try stage.outcome(of: request) {
        case .launched(let process): throw Complaint(text: "\(step) did not fail: \(process.pid)")
        case .failed(let failure):
            let wanted = LaunchFailure(step: step, errorNumber: number)
            try check(failure == wanted, "\(failure) instead of \(wanted)")
        }
    }

    static func failuresLeaveNothing(_ setting: Setting) throws {
        let stage = try setting.stage()
        _ = try stage.outcome(of: stage.request(["/no/such"]))
        let before = descriptorCount()
        for _ in 0..<200 {
            let output = try Output(stage.loop)
            var request = stage.request(["/no/such"])
            request.descriptors = [.init(source: output.writing, target: 1)]
            _ = try stage.outcome(of: request)
            output.closeWriting()
            try stage.wait { output.hasEnded }
            output.close()
        }
        let after = descriptorCount()
        try check(after == before, "\(before) descriptors before, \(after) after")
        try check(children(of: getpid()).isEmpty, "zombies")
        try stage.close()
    }

    /// Targets that cross, a gap, and more of them than a thread has reserved.
    static func descriptors(_ setting: Setting) throws {
        let stage = try setting.stage()
        for count in [1, 2, 8, 40] {
            let pipes = try (0..<count).map { _ in try Output(stage.loop) }
            var request = stage.request([
                "/bin/sh", "-c",
                "for n in $(seq 3 \(2 + count)); do eval \"echo to $n >&$n\"; done; "
                    + listing,
            ])
            // Dash takes single digits only; the rest is counted by what is open.
            if count > 7 { request.arguments[2] = listing }
            request.descriptors = pipes.enumerated().map { place, pipe in
                .init(source: pipe.writing, target: CInt(3 + place))
            }
            let actor = try stage.launch(request)
            for pipe in pipes { pipe.closeWriting() }
            try stage.wait {
                actor.isEmpty && actor.output.hasEnded && pipes.allSatisfy(\.hasEnded)
            }
            let open = actor.output.lines.count { $0.hasPrefix("fd") }
            try check(open == 3 + count, "\(open) open with \(count): \(actor.output.text)")
            for (place, pipe) in pipes.enumerated() where count <= 7 {
                try check(pipe.text == "to \(3 + place)\n", "descriptor \(3 + place): \(pipe.text)")
            }
            for pipe in pipes { pipe.close() }
        }
        try stage.close()
    }

    static func attributes(_ setting: Setting) throws {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = 321
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let stage = try setting.stage()
        var request = stage.request([
            "/bin/sh", "-c",
            "pwd; umask; ulimit -n; ulimit -c; nice; echo $LISTEN_PID $$; "
                + "cut -d' ' -f6 /proc/$$/stat; echo out >/dev/stdout; echo err >/dev/stderr; cat",
        ])
        request.workingDirectory = "/usr"
        request.umask = 0o027
        request.nice = 7
        request.pidVariables = ["LISTEN_PID"]
        request.limits = [.init(resource: 4, soft: 0, hard: 0)]
        let actor = try stage.launch(request)
        try stage.wait { actor.isEmpty && actor.output.hasEnded }
        let pid = actor.pid
        let wanted = ["/usr", "0027", "321", "0", "7", "\(pid) \(pid)", "\(pid)", "out", "err"]
        try check(actor.output.lines.map(String.init) == wanted, actor.output.text)
        try check(descriptorCount() > 0 && actor.tree.process.hasToken, "no token")
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        try check(limit.rlim_cur == limit.rlim_max, "our own limit was not raised")
        try stage.close()
    }

    static func user(_ setting: Setting) throws {
        guard geteuid() == 0 else { exit(77) }
        let stage = try setting.stage()
        let identity = try resolveIdentity(user: "nobody", group: nil)
        var request = stage.request([
            "/bin/sh", "-c", "id -u; id -g; id -G; echo again >/dev/stdout",
        ])
        request.identity = identity
        let actor = try stage.launch(request)
        try stage.wait { actor.isEmpty && actor.output.hasEnded }
        let groups = identity.groups.map(String.init).joined(separator: " ")
        let wanted = ["\(identity.user)", "\(identity.group)", groups, "again"]
        try check(actor.output.lines.map(String.init) == wanted, actor.output.text)
        request = stage.request(["/bin/true"])
        request.identity = identity
        request.workingDirectory = "/root"
        if unsafe access("/root", X_OK) == 0,
            unsafe system("su -s /bin/sh nobody -c 'cd /root' 2>&-") != 0
        {
            try expect(stage, request, "enter the working directory /root", EACCES)
        }
        try stage.close()
    }

    /// What is launched for a spawner that was closed meanwhile must not live on.
    static func retired(_ setting: Setting) throws {
        let stage = try setting.stage()
        let output = try Output(stage.loop)
        for _ in 0..<20 {
            var request = stage.request(["/bin/sleep", "30"])
            request.descriptors = [.init(source: output.writing, target: 1)]
            stage.spawner.launch(request) { _ in complain("a closed spawner answered") }
        }
        stage.spawner.close()
        // The orders may be under way, so the source stays open until their children are gone.
        try stage.wait(looking: true) { children(of: getpid()).isEmpty }
        output.closeWriting()
        try stage.wait { output.hasEnded }
        output.close()
        try stage.close()
    }

    /// Few descriptors, also by the hard limit: what does not fit fails with a reason, and what was
    /// launched before stays in our hands.
    static func scarce(_ setting: Setting) throws {
        var few = rlimit(rlim_cur: 40, rlim_max: 40)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &few)
        let stage = try setting.stage()
        var actors: [Actor] = []
        var failure: LaunchFailure?
        while failure == nil, actors.count < 40 {
            switch try stage.outcome(of: stage.request(["/bin/sleep", "30"])) {
            case .failed(let reason): failure = reason
            case .launched(let process):
                let tree = try ProcessTree(
                    process, token: UInt64(actors.count), leaf: nil, orphans: stage.orphans)
                actors.append(Actor(tree: tree, output: nil, token: 0))
            }
        }
        let wanted = LaunchFailure(step: "make a process for /bin/sleep", errorNumber: EMFILE)
        try check(failure == wanted && actors.count > 2, "\(actors.count), then \(failure as Any)")
        for actor in actors {
            actor.tree.signal(SIGTERM, to: .group)
            try stage.wait { actor.isEmpty }
            actor.close()
        }
        actors = []
        let again = try stage.shell("exit 0")
        try stage.wait { again.isEmpty }
        try stage.close()
    }

    /// Dies with a child that asked to die too; the child holds our stdout, whose end tells.
    static func die(_ setting: Setting) throws {
        let stage = try setting.stage()
        var request = stage.request([setting.runaway, "hold"])
        request.descriptors = [.init(source: 1, target: 1)]
        request.deathSignal = SIGKILL
        guard case .launched = try stage.outcome(of: request) else {
            throw Complaint(text: "no launch")
        }
        Glibc.raise(SIGKILL)
    }

    /// What was taken away is reported as missing, and nothing else.
    static func features(_ setting: Setting) throws {
        let stage = try setting.stage()
        let found = stage.spawner.features
        let has: (UInt32) -> Bool = { setting.missing & $0 == 0 }
        try check(found.hasClone3 == has(1) && found.sharesTable == has(2), "\(found)")
        try check(found.entersCgroups == has(3), "\(found)")
        try check(found.listsChildren == has(4) && found.mainReaps == has(8), "\(found)")
        try check(found.adoptsOrphans && found.named.count == 6, "\(found)")
        try stage.close()
    }
}
