import CProcess
public import EventLoop
import Glibc
public import Stoic

/// Everything of one incarnation: the launched process, the main one (the same unless a message
/// named another), and all that descend from it, wherever they moved to.
///
/// The launched process stays unreaped until the tree is empty, so that its pid, group and session
/// name nobody else meanwhile. In the normal case (the main ends and leaves nothing) an exit costs
/// the same whatever else runs on the machine.
public final class ProcessTree {
    /// The environment variable that holds the token in decimal: a hint for people, and the last
    /// resort where the token is gone.
    public static let markerName = "ORCHESTRATOR_INCARNATION"

    /// The launched process.
    private enum State {
        case running(Watch)
        /// It is dead; somebody of its tree lives. The watch is of the leaf.
        case leaderless(Watch?)
        case empty
        case closed
    }

    /// The process whose exit is the service's.
    private enum Main {
        case launched
        case adopted(AdoptedMain)
        case ended
    }

    /// How the main process ended; once, and before `onEmpty`.
    public var onMainExit: (ExitStatus) -> Void = { _ in }
    /// Nothing of the tree is left; once.
    public var onEmpty: () -> Void = {}

    /// The launched process.
    public let process: LaunchedProcess
    /// Its cgroup, if it has one.
    let leaf: CgroupLeaf?
    private let token: UInt64
    private let orphans: OrphanWatch
    private var state = State.closed
    private var main = Main.launched
    private var killing: KillProgress?
    private var heard: [Int32: SignalReach] = [:]

    /// Takes over a launched process. Close it when it is empty, or to give it up.
    ///
    /// - Parameters:
    ///   - token: the one of its launch request.
    ///   - leaf: the cgroup it was born in, or was to be.
    /// - Throws: what the loop answers when it cannot watch; the process is killed and reaped then.
    public init(
        _ process: LaunchedProcess, token: UInt64, leaf: CgroupLeaf?, orphans: OrphanWatch
    ) throws(UVError) {
        self.process = process
        self.token = token
        // A leaf it was not born in says nothing about its tree.
        self.leaf = process.isInCgroup ? leaf : nil
        self.orphans = orphans
        let descriptor = process.pidfd.number
        do throws(UVError) {
            let watch = try Watch(orphans.loop, descriptor: descriptor, interest: .readable) {
                [unowned self] _ in launchedEnded()
            }
            state = .running(watch)
        } catch {
            orphans.condemn(process)
            throw error
        }
        orphans.add(self, token: token, main: process.pid)
    }

    /// The pid of the main process: the launched one unless another was adopted.
    public var mainPid: Int32 {
        switch main {
        case .launched, .ended: process.pid
        case .adopted(let adopted): adopted.pid
        }
    }

    /// Whether no process of it is left.
    public var isEmpty: Bool {
        switch state {
        case .empty, .closed: true
        case .running, .leaderless: false
        }
    }

    /// Stops watching. Neither closure is called afterwards. What still lives lives on, unwatched;
    /// a dead launched process is reaped. Idempotent.
    public func close() {
        switch state {
        case .closed: return
        case .running(let watch): watch.close()
        case .leaderless(let watch): watch?.close()
        case .empty: break
        }
        dismissAdopted()
        state = .closed
        main = .ended
        killing = nil
        orphans.remove(token: token)
        reapLaunched()
    }

    private func reapLaunched() {
        var exit = cproc_exit()
        // SAFETY: the call fills a variable of the size it expects, and keeps no pointer.
        _ = unsafe cproc_reap(process.pid, &exit)
    }

    // MARK: - Exits

    private func launchedEnded() {
        guard case .running(let watch) = state else { return }
        watch.close()
        state = .leaderless(nil)
        orphans.await(token: token)
        if case .launched = main {
            var exit = cproc_exit()
            // SAFETY: the call fills a variable of the size it expects, and keeps no pointer.
            let error = unsafe cproc_peek(process.pid, &exit)
            mainEnded(error == 0 ? ExitStatus(exit) : .unknown)
        }
        guard case .leaderless = state else { return }
        orphans.survey()
        recheck()
    }

    private func mainEnded(_ status: ExitStatus) {
        dismissAdopted()
        main = .ended
        onMainExit(status)
    }

    /// Whoever was adopted is watched no longer.
    private func dismissAdopted() {
        guard case .adopted(let adopted) = main else { return }
        adopted.close()
        orphans.dismiss(adopted)
    }

    /// An adopted child was reaped that was the main process of this tree once.
    func adoptedEnded(_ exit: cproc_exit) {
        guard case .adopted(let adopted) = main, adopted.pid == exit.pid else { return }
        mainEnded(ExitStatus(exit))
    }

    /// An adopted child was reaped, so its number is free.
    func escapeeEnded(_ pid: Int32) { killing?.hit[pid] = nil }

    /// Something ended: is the tree empty? Looks at the last survey of escapees.
    func recheck() {
        guard case .leaderless(let watch) = state else { return }
        guard !(leaf?.isPopulated ?? false), orphans.escapeeCount(of: token) == 0 else {
            if watch == nil, let leaf { state = .leaderless(watchEvents(of: leaf)) }
            if killing != nil { sweep() }
            return
        }
        watch?.close()
        state = .empty
        killing = nil
        orphans.remove(token: token)
        reapLaunched()
        // Its parent may have reaped the adopted main before we could ask.
        if case .adopted = main { mainEnded(.unknown) }
        guard case .empty = state else { return }
        onEmpty()
    }

    private func watchEvents(of leaf: CgroupLeaf) -> Watch? {
        do throws(UVError) {
            return try Watch(
                orphans.loop, descriptor: leaf.events.number, interest: .priority
            ) { [unowned self] _ in
                orphans.survey()
                recheck()
            }
        } catch {
            // Not fatal: an escapee's end comes as SIGCHLD too, and a kill looks again.
            return nil
        }
    }

    // MARK: - Membership

    /// Whether a process is of this tree now. Dead ones are too, until they are reaped.
    public func contains(_ pid: Int32) -> Bool {
        switch state {
        case .empty, .closed: false
        case .running, .leaderless:
            pid > 1 && (pid == process.pid || orphans.owner(of: pid) == token)
        }
    }

    /// Everything of the tree that lives, by pid: what a message names as survivors.
    public func members() -> [ProcessIdentity] {
        guard !isEmpty else { return [] }
        orphans.survey()
        let escapees = orphans.escapees(of: token)
        var pids = Set(leaf?.processes() ?? []).union(escapees).union([process.pid])
        pids.formUnion(orphans.files.descendants(of: [process.pid] + escapees))
        return pids.compactMap(ProcessIdentity.living).sorted { $0.pid < $1.pid }
    }

    /// Makes another member the main process (`MAINPID=`): its exit is the service's from now on,
    /// and signals go to it. The status is `.unknown` when its own parent takes it.
    ///
    /// - Returns: false, and nothing changed, if it is not a living member or the main has ended.
    public func adoptMain(_ pid: Int32) -> Bool {
        switch main {
        case .ended: return false
        case .launched, .adopted:
            if pid == mainPid { return true }
        }
        if pid == process.pid, case .running = state {
            dismissAdopted()
            main = .launched
            return true
        }
        guard pid != process.pid, contains(pid) else { return false }
        let adopted = AdoptedMain(pid, loop: orphans.loop) { [unowned self] in
            var exit = cproc_exit()
            // SAFETY: the call fills a variable of the size it expects, and keeps no pointer.
            let error = unsafe cproc_peek(pid, &exit)
            mainEnded(error == 0 ? ExitStatus(exit) : .unknown)
        }
        // Between the question and the descriptor the number may have changed hands.
        guard let adopted, contains(pid), adopted.isAlive else { return false }
        dismissAdopted()
        main = .adopted(adopted)
        orphans.adopt(adopted, token: token)
        return true
    }

    // MARK: - Signals

    /// Sends a signal, then SIGCONT, since who is stopped hears nothing else (not after a signal
    /// that stops). Nobody outside the tree can be hit.
    public func signal(_ number: Int32, to target: SignalTarget) {
        guard !isEmpty else { return }
        noteReach(of: number, target)
        send(number, to: target)
        if continues(after: number) { send(SIGCONT, to: target) }
    }

    /// As `signal` to the tree, but without those that were there when the same signal went to
    /// their group or to the tree before: a member hears it once.
    public func signalRest(_ number: Int32) {
        guard let before = heard[number] else { return signal(number, to: .tree) }
        noteReach(of: number, .tree)
        for member in members() {
            let isInGroup = cproc_group_of(member.pid) == process.pid
            guard !before.includes(startTime: member.startTime, isInGroup: isInGroup) else {
                continue
            }
            signalStranger(member.pid, startTime: member.startTime, number)
            if continues(after: number) {
                signalStranger(member.pid, startTime: member.startTime, SIGCONT)
            }
        }
    }

    private func noteReach(of number: Int32, _ target: SignalTarget) {
        switch (target, main) {
        case (.main, _), (.group, .adopted): return
        case (.group, .launched), (.group, .ended):
            heard[number, default: SignalReach()].group = ProcessFiles.ticksSinceBoot
        case (.tree, _): heard[number, default: SignalReach()].tree = ProcessFiles.ticksSinceBoot
        }
    }

    private func continues(after number: Int32) -> Bool {
        ![SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGKILL].contains(number)
    }

    private func send(_ number: Int32, to target: SignalTarget) {
        switch (target, main) {
        case (.main, .launched): _ = cproc_signal_child(process.pid, number)
        case (.main, .adopted(let adopted)): adopted.signal(number)
        case (.main, .ended): break
        case (.group, .adopted(let adopted)): signalGroup(of: adopted, number)
        // The group outlives its leader, and keeps its number while that is not reaped.
        case (.group, .launched), (.group, .ended): _ = cproc_signal_group(process.pid, number)
        case (.tree, _):
            _ = cproc_signal_group(process.pid, number)
            for member in members() where cproc_group_of(member.pid) != process.pid {
                signalStranger(member.pid, startTime: member.startTime, number)
            }
        }
    }

    private func signalGroup(of adopted: AdoptedMain, _ number: Int32) {
        let group = cproc_group_of(adopted.pid)
        if group == process.pid {
            _ = cproc_signal_group(group, number)
            return
        }
        for member in members() where cproc_group_of(member.pid) == group {
            signalStranger(member.pid, startTime: member.startTime, number)
        }
    }

    /// SIGKILL to the whole tree until it is empty. Again: looks again at once.
    public func kill() {
        guard !isEmpty else { return }
        if killing == nil { killing = KillProgress() }
        sweep()
    }

    func retryKill() {
        guard killing != nil else { return }
        orphans.survey()
        recheck()
    }

    private func sweep() {
        guard var progress = killing else { return }
        leaf?.kill()
        let token = self.token
        let launched = process.pid
        let others = leaf?.processes() ?? []
        progress.sweep { progress in
            _ = cproc_signal_group(launched, SIGKILL)
            return orphans.killRound(
                { $0 == .tree(token) }, roots: [launched] + others, &progress)
        }
        if let delay = progress.nextDelay() { orphans.retryKill(of: token, after: delay) }
        killing = progress
        orphans.await(token: token)
    }
}

extension ExitStatus {
    init(_ exit: cproc_exit) {
        self =
            exit.by_signal ? .signal(exit.value, coreDumped: exit.dumped_core) : .code(exit.value)
    }
}
