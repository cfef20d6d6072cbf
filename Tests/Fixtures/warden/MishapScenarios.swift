import CProcess
import EventLoop
import Glibc
import Orchestrator
import Stoic

/// What goes wrong around a launch, and what must not be left of it.
extension Scenario {
    /// An exec that hangs: called off in one thread's hands, in the queue behind it, and at the end
    /// of the spawner.
    static func hungExec(_ setting: Setting) throws {
        let stage = try setting.stage()
        let program = try HungProgram()
        var failures: [Int32] = []
        func launch() -> Spawner.Ticket {
            stage.spawner.launch(stage.request([program.path])) { outcome in
                guard case .failed(let failure) = outcome else { return }
                failures.append(failure.errorNumber)
            }
        }
        // Each of the two threads holds one; the third waits for them.
        let tickets = [launch(), launch(), launch()]
        try stage.wait(looking: true) { program.isBeingRun(by: 2) }
        for ticket in tickets.reversed() { stage.spawner.cancel(ticket) }
        try stage.wait { failures.count == 3 }
        try check(failures == [ECANCELED, ECANCELED, ECANCELED], "\(failures)")
        _ = launch()
        try stage.wait(looking: true) { program.isBeingRun(by: 1) }
        stage.spawner.close()
        try stage.wait(looking: true) { children(of: getpid()).isEmpty }
        program.release()
        try check(failures.count == 3, "a closed spawner told somebody")
        try stage.close()
    }

    /// A process that cannot be watched is killed, and no zombie stays.
    static func unwatchable(_ setting: Setting) throws {
        let stage = try setting.stage()
        let request = stage.request(["/bin/sleep", "600"])
        guard case .launched(let process) = try stage.outcome(of: request) else {
            throw Complaint(text: "it was not launched")
        }
        // A second watch of one descriptor is refused.
        let other = try Watch(
            stage.loop, descriptor: process.pidfd.number, interest: .priority, { _ in })
        var isRefused = false
        do {
            _ = try ProcessTree(
                process, token: request.token, leaf: nil, orphans: stage.orphans)
        } catch {
            isRefused = true
        }
        try check(isRefused, "it is watched twice")
        try stage.wait { children(of: getpid()).isEmpty }
        other.close()
        try stage.close()
    }

    /// The launched process and a child of its group hear SIGTERM once each, although the rest of
    /// the tree is asked again after the first has ended. Who came later hears it then.
    static func hearsOnce(_ setting: Setting) throws {
        let stage = try setting.stage()
        let script = """
            ( trap 'echo heard' TERM
              echo ready $$
              while :; do sleep 0.05; done ) &
            read unused
            """
        let actor = try stage.shell(script)
        try stage.wait { actor.output.lines.contains { $0.hasPrefix("ready") } }
        try stage.waitForTick()
        actor.tree.signal(SIGTERM, to: .group)
        try stage.wait { actor.mainExited && actor.output.lines.contains("heard") }
        try stage.waitForTick()
        actor.tree.signalRest(SIGTERM)
        try stage.waitForTick()
        let count = actor.output.lines.filter { $0 == "heard" }.count
        try check(count == 1, "heard \(count) times")
        actor.tree.kill()
        try stage.wait { actor.isEmpty }
        try stage.close()
    }

    /// A number that once was a main process comes to mean somebody of another tree.
    static func recycledMain(_ setting: Setting) throws {
        let stage = try setting.stage()
        let first = try stage.shell("sleep 600 & echo kid $!; wait; sleep 600")
        try stage.wait { !first.output.numbers(after: "kid ").isEmpty }
        let kid = first.output.numbers(after: "kid ")[0]
        try check(first.tree.adoptMain(kid) && first.tree.adoptMain(first.pid), "not adopted")
        _ = kill(kid, SIGKILL)
        try stage.wait(looking: true) { !exists(kid) }
        // Only who may choose the next number can do this on purpose; others may be faster.
        let forker = try stage.shell("while :; do kill -STOP $$; sleep 600 & echo kid $!; done")
        var isRecycled = false
        for attempt in 1...200 where !isRecycled {
            try stage.wait(looking: true) { state(of: forker.pid) == "T" }
            guard chooseNextPid(kid) else { break }
            _ = kill(forker.pid, SIGCONT)
            try stage.wait { forker.output.numbers(after: "kid ").count == attempt }
            isRecycled = forker.output.numbers(after: "kid ").last == kid
        }
        if isRecycled {
            try check(!first.tree.contains(kid), "a stranger is taken for a member")
            try check(forker.tree.contains(kid), "a member is taken for a stranger")
            try check(!first.tree.adoptMain(kid), "a stranger is adopted")
        } else {
            complain("SKIPPED: the number could not be chosen")
        }
        first.tree.kill()
        forker.tree.kill()
        try stage.wait { first.isEmpty && forker.isEmpty }
        try stage.close()
    }
}

/// A program whose exec waits: its file has a lease, which the kernel takes its time to break.
private final class HungProgram {
    let path: String
    private var descriptor: CInt

    init() throws {
        path = "/tmp/warden-hung-\(getpid())"
        // The kernel says by SIGIO that somebody wants in.
        signal(SIGIO, SIG_IGN)
        let source = unsafe open("/bin/true", O_RDONLY | O_CLOEXEC)
        let copy = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o755)
        try check(source >= 0 && copy >= 0, "cannot copy a program")
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe read(source, &buffer, buffer.count)
            guard count > 0 else { break }
            try check(unsafe write(copy, buffer, count) == count, "cannot copy a program")
        }
        close(source)
        close(copy)
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        let setLease: CInt = 1024
        try check(fcntl(descriptor, setLease, F_WRLCK) == 0, "no lease: \(errno)")
    }

    /// Whether so many children hang in its exec, or are about to.
    func isBeingRun(by count: Int) -> Bool { children(of: getpid()).count == count }

    func release() {
        close(descriptor)
        unsafe unlink(path)
    }
}

extension Stage {
    /// Until the clock that start times are told in has gone on.
    fileprivate func waitForTick() throws {
        let begun = cproc_clock(CLOCK_BOOTTIME)
        try wait(looking: true) { cproc_clock(CLOCK_BOOTTIME) - begun > 20_000_000 }
    }
}

extension Output {
    /// The numbers at the ends of the lines that begin so.
    fileprivate func numbers(after start: String) -> [Int32] {
        lines.filter { $0.hasPrefix(start) }.compactMap { Int32($0.dropFirst(start.count)) }
    }
}

private func state(of pid: Int32) -> Character? {
    var stat = cproc_stat()
    guard unsafe cproc_read_stat(pid, &stat) == 0 else { return nil }
    return Character(UnicodeScalar(UInt8(bitPattern: stat.state)))
}

private func exists(_ pid: Int32) -> Bool { state(of: pid) != nil }

/// Has the next process get this number, if nobody is faster.
private func chooseNextPid(_ pid: Int32) -> Bool {
    let file = unsafe open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    let text = "\(pid - 1)"
    return unsafe write(file, text, text.utf8.count) == text.utf8.count
}
