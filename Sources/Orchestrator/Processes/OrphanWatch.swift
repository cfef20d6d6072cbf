import CProcess
public import EventLoop
import Glibc
import Stoic

/// All trees of one engine, and the processes that escaped from them.
///
/// A process whose parent died is handed to our main thread, so the list of that thread's children
/// is the list of escapees: each has an owner (cgroup, ancestry, token, marker) or is a *stray*,
/// which belongs to the project. They are reaped as they end; SIGCHLD tells, nothing ticks.
public final class OrphanWatch {
    /// What is looked at later.
    private enum Retry: Hashable {
        /// A kill.
        case tree(UInt64)
        /// The kill of the strays.
        case strays
        /// Who ended, for all signals that came meanwhile.
        case ends
    }

    private enum State {
        case open(SignalWatch, Alarms<Retry>)
        case closed
    }

    let spawner: Spawner
    let files: ProcessFiles
    let loop: Loop
    private let onStray: (ProcessIdentity) -> Void
    private let strangers: Strangers
    private var state = State.closed
    /// The children of the main thread, as of the last survey. An adopted child keeps its pid until
    /// we reap it, so the pid alone names it here.
    private(set) var owners: [Int32: Owner] = [:]
    /// How many of `owners` each tree has.
    private var counts: [UInt64: Int] = [:]
    private var trees: [UInt64: ProcessTree] = [:]
    /// The launched processes, with their trees. They are no escapees, though children of ours.
    private(set) var launched: [Int32: UInt64] = [:]
    /// The main processes that messages named, each with its start time: it is another's child, so
    /// its number may come to mean a stranger.
    private var adoptedMains: [Int32: (token: UInt64, startTime: UInt64)] = [:]
    /// Launched, and killed at once because they could not be watched.
    private var condemned: [Int32: LaunchedProcess] = [:]
    /// Trees whose launched process is gone, and that are not empty.
    private var waiting: Set<UInt64> = []
    /// Whether something was left for when the spawner is idle.
    private var isOwing = false
    private var strayKill: (progress: KillProgress, then: () -> Void)?

    /// Starts watching. Create it right after the spawner, before the first launch: what is our
    /// child by then is left alone.
    ///
    /// - Parameters:
    ///   - strangers: what becomes of children that no tree claims.
    ///   - onStray: hears of each stray once, when it is found: at an exit of a main or of another
    ///     escapee. Reported, reaped, and killed by `killStrays`.
    public init(
        _ loop: Loop, spawner: Spawner, strangers: Strangers = .claim,
        onStray: @escaping (ProcessIdentity) -> Void
    ) throws(UVError) {
        self.loop = loop
        self.strangers = strangers
        self.spawner = spawner
        self.onStray = onStray
        files = ProcessFiles(listsChildren: spawner.features.listsChildren)
        for pid in files.adopted(besides: { _ in false }) { owners[pid] = .inherited }
        let alarms = try Alarms<Retry>(loop, clock: .awake) { [unowned self] retry in
            switch retry {
            case .tree(let token): trees[token]?.retryKill()
            case .strays: sweepStrays()
            case .ends: lookAgain()
            }
        }
        // To find the dead by number takes a reading of all of /proc: one for all signals at hand.
        let isCostly = !files.listsChildren && !spawner.features.mainReaps
        do {
            let signals = try SignalWatch(loop, signal: SIGCHLD) { [unowned self] in
                if isCostly { alarms.arm(.ends, after: .zero) } else { childEnded() }
            }
            state = .open(signals, alarms)
            spawner.onOutcomes = { [weak self] in self?.settle() }
        } catch {
            alarms.close()
            throw error
        }
    }

    /// Stops watching and forgets every tree. Idempotent.
    public func close() {
        guard case .open(let signals, let alarms) = state else { return }
        state = .closed
        signals.close()
        alarms.close()
        trees = [:]
        strayKill = nil
    }

    // MARK: - Trees

    func add(_ tree: ProcessTree, token: UInt64, main: Int32) {
        trees[token] = tree
        spawner.claim(main)
        launched[main] = token
        settle()
    }

    /// Another process became the main one of a tree; its exit is the tree's business.
    func adopt(_ main: AdoptedMain, token: UInt64) {
        adoptedMains[main.pid] = (token, main.startTime)
    }

    /// It is not the main process any more.
    func dismiss(_ main: AdoptedMain) { adoptedMains[main.pid] = nil }

    /// Kills a launched process that nobody can watch, and reaps it when it has ended.
    func condemn(_ process: LaunchedProcess) {
        _ = cproc_signal_group(process.pid, SIGKILL)
        _ = cproc_signal_child(process.pid, SIGKILL)
        condemned[process.pid] = process
        reapCondemned()
    }

    private func reapCondemned() {
        // SAFETY: the call fills a variable of the size it expects, and keeps no pointer.
        var exit = cproc_exit()
        for pid in condemned.keys where unsafe cproc_reap(pid, &exit) == 0 {
            condemned[pid] = nil
            spawner.claim(pid)
        }
    }

    func remove(token: UInt64) {
        guard let tree = trees.removeValue(forKey: token) else { return }
        waiting.remove(token)
        launched[tree.process.pid] = nil
        if case .open(_, let alarms) = state { alarms.disarm(.tree(token)) }
    }

    /// From now on the tree hears of every change that may have emptied it.
    func await(token: UInt64) { waiting.insert(token) }

    func retryKill(of token: UInt64, after delay: Duration) {
        if case .open(_, let alarms) = state { alarms.arm(.tree(token), after: delay) }
    }

    /// How many children of the main thread are this tree's, as of the last survey.
    func escapeeCount(of token: UInt64) -> Int { counts[token] ?? 0 }

    /// The children of the main thread that are this tree's, as of the last survey.
    func escapees(of token: UInt64) -> [Int32] {
        guard escapeeCount(of: token) > 0 else { return [] }
        return owners.filter { $0.value == .tree(token) }.map(\.key)
    }

    /// Whose a process is: the tree of the main it descends from, else what its topmost living
    /// ancestor below us is marked with.
    func owner(of pid: Int32) -> UInt64? {
        if let token = leafOwner(of: pid) { return token }
        let own = cproc_self()
        var at = pid
        for _ in 0..<4096 {
            if let token = launched[at], trees[token] != nil { return token }
            guard at > 1, at != own, let stat = ProcessFiles.stat(of: at) else { return nil }
            if let main = adoptedMains[at], main.startTime == stat.start_time { return main.token }
            if stat.parent == own || stat.parent <= 1 { return markedOwner(of: at) }
            at = stat.parent
        }
        return nil
    }

    /// Whether a process, or one it descends from below us, was launched with `token`. For what is
    /// said before its launch is answered: until then no tree knows its members.
    package func carries(_ pid: Int32, _ token: UInt64) -> Bool {
        let own = cproc_self()
        var at = pid
        for _ in 0..<4096 {
            guard at > 1, at != own, let stat = ProcessFiles.stat(of: at) else { return false }
            if ProcessFiles.token(of: at) == token || ProcessFiles.marker(of: at) == token {
                return true
            }
            at = stat.parent
        }
        return false
    }

    private func leafOwner(of pid: Int32) -> UInt64? {
        guard trees.values.contains(where: { $0.leaf != nil }),
            let place = ProcessFiles.cgroup(of: pid)
        else { return nil }
        return trees.first { _, tree in
            guard let path = tree.leaf?.path else { return false }
            return place == path || place.hasPrefix(path + "/")
        }?.key
    }

    private func markedOwner(of pid: Int32) -> UInt64? {
        // A session ends with its last member, and its number stays the launched process's.
        if let session = ProcessFiles.stat(of: pid)?.session, let token = launched[session] {
            return token
        }
        if let token = ProcessFiles.token(of: pid) { return trees[token] == nil ? nil : token }
        if let token = ProcessFiles.marker(of: pid), trees[token] != nil { return token }
        return nil
    }

    // MARK: - Survey and reaping

    /// Looks at who was handed to us. Costs the number of escapees, not of processes.
    func survey() {
        var next: [Int32: Owner] = [:]
        var strays: [ProcessIdentity] = []
        counts = [:]
        for pid in files.adopted(besides: isLaunched) {
            guard let owner = newOwner(of: pid) else { continue }
            next[pid] = owner
            if case .tree(let token) = owner { counts[token, default: 0] += 1 }
            if case .stray(let stray) = owner, owners[pid] == nil { strays.append(stray) }
        }
        owners = next
        for stray in strays { onStray(stray) }
    }

    private func identify(_ pid: Int32) -> Owner {
        if let main = adoptedMains[pid], ProcessFiles.stat(of: pid)?.start_time == main.startTime {
            return .tree(main.token)
        }
        if let token = leafOwner(of: pid) ?? markedOwner(of: pid) { return .tree(token) }
        return ProcessIdentity.living(pid).map { .stray($0) } ?? .unknown
    }

    /// A child of some thread of ours ended. Mains are not reaped here.
    private func childEnded() {
        if !condemned.isEmpty { reapCondemned() }
        let ended = reap()
        if !ended.isEmpty { take(ended) }
    }

    /// No launch is under way any more: what could not be told from one is looked at.
    private func settle() {
        guard case .open(_, let alarms) = state, isOwing, spawner.isIdle else { return }
        alarms.arm(.ends, after: .zero)
    }

    private func lookAgain() {
        if !condemned.isEmpty { reapCondemned() }
        let owed = isOwing
        isOwing = false
        let ended = reap()
        if owed || !ended.isEmpty { take(ended) }
        if owed { survey() }
    }

    private func take(_ ended: [cproc_exit]) {
        for exit in ended {
            owners[exit.pid] = nil
            if let main = adoptedMains[exit.pid] { trees[main.token]?.adoptedEnded(exit) }
            for token in waiting { trees[token]?.escapeeEnded(exit.pid) }
        }
        guard !waiting.isEmpty || strayKill != nil || !owners.isEmpty else { return }
        survey()
        for token in waiting { trees[token]?.recheck() }
        if strayKill != nil { sweepStrays() }
    }

    private func reap() -> [cproc_exit] {
        var ended: [cproc_exit] = []
        // SAFETY: the call fills a variable of the size it expects, and keeps no pointer.
        var exit = cproc_exit()
        if spawner.features.mainReaps, strangers == .claim, cproc_is_main_thread() {
            while unsafe cproc_reap_stranger(&exit) == 0 { ended.append(exit) }
            return ended
        }
        // The long way: each by number. While a launch is under way a child may be the spawner's,
        // so only those that are known stay on the list.
        let adopted = files.adopted(besides: isLaunched)
        for pid in adopted {
            guard spawner.launchesUnderWay == 0 || mayReap(pid) else {
                isOwing = true
                continue
            }
            guard strangers == .claim || isOfATree(pid) else { continue }
            if unsafe cproc_reap(pid, &exit) == 0 { ended.append(exit) }
        }
        return ended
    }

    /// Whether a child of ours is a launch, and no escapee.
    private func isLaunched(_ pid: Int32) -> Bool {
        launched[pid] != nil || spawner.isUnclaimed(pid)
    }

    /// Whether a tree claims a child of ours.
    private func isOfATree(_ pid: Int32) -> Bool {
        newOwner(of: pid)?.isOfATree ?? false
    }

    private func mayReap(_ pid: Int32) -> Bool { files.listsChildren || owners[pid] != nil }

    // MARK: - Killing

    /// One round of SIGKILL over the escapees of `owner`, what descends from them and from `roots`.
    /// Returns whether it met anything that was not hit before.
    func killRound(
        _ isOwn: (Owner) -> Bool, roots: [Int32], _ progress: inout KillProgress
    ) -> Bool {
        survey()
        let own = Set(owners.filter { isOwn($0.value) }.map(\.key))
        var isNew = false
        for pid in own where progress.hit[pid] == nil {
            progress.hit[pid] = 0
            isNew = true
            // A whole group at once leaves a chain of forks no gap to slip through. Its number is
            // safe while its leader is a child of ours that nobody has reaped.
            let group = cproc_group_of(pid)
            if own.contains(group) { _ = cproc_signal_group(group, SIGKILL) }
            _ = cproc_signal_child(pid, SIGKILL)
        }
        for pid in files.descendants(of: roots + own) {
            guard let found = ProcessFiles.stat(of: pid), !found.isDead,
                progress.hit[pid] != found.start_time
            else { continue }
            progress.hit[pid] = found.start_time
            isNew = true
            signalStranger(pid, startTime: found.start_time, SIGKILL)
        }
        return (!files.listsChildren && chase(isOwn, &progress)) || isNew
    }

    /// The owner of a child of ours, known or found now. Without lists, a child of which nothing
    /// is known may be a launch under way: then it is left for a later look.
    func newOwner(of pid: Int32) -> Owner? {
        // Where others reap as well, a number may have come to mean somebody else.
        if let owner = owners[pid], strangers == .claim || owner.isOfATree { return owner }
        let owner = identify(pid)
        switch owner {
        case .tree, .inherited: return owner
        case .stray, .unknown: if files.listsChildren || spawner.isIdle { return owner }
        }
        isOwing = true
        return nil
    }

    /// Those nobody can claim that live, as of now.
    public func strays() -> [ProcessIdentity] {
        survey()
        return owners.values.compactMap { owner in
            guard case .stray(let stray) = owner else { return nil }
            return ProcessIdentity.living(stray.pid)
        }.sorted { $0.pid < $1.pid }
    }

    /// SIGKILL to the strays and what descends from them, until none is left; then `then` is
    /// called, at once if there is none now. A stray that cannot die keeps `then` waiting: bound it
    /// outside, and name what `strays()` still lists.
    public func killStrays(then: @escaping () -> Void) {
        strayKill = (KillProgress(), then)
        sweepStrays()
    }

    private func sweepStrays() {
        guard case .open(_, let alarms) = state, let then = strayKill?.then,
            var progress = strayKill?.progress
        else { return }
        progress.sweep { killRound({ $0.isStray }, roots: [], &$0) }
        guard owners.values.contains(where: \.isStray) else {
            strayKill = nil
            alarms.disarm(.strays)
            return then()
        }
        if let delay = progress.nextDelay() { alarms.arm(.strays, after: delay) }
        strayKill = (progress, then)
    }
}

/// A signal to a process that need not be our child: through a descriptor opened first, and only if
/// the number still means the process it meant.
func signalStranger(_ pid: Int32, startTime: UInt64, _ number: Int32) {
    let opened = cproc_pidfd_open(pid)
    guard opened >= 0 else { return }
    let descriptor = OwnedDescriptor(owning: opened)
    guard ProcessFiles.stat(of: pid)?.start_time == startTime else { return }
    _ = cproc_pidfd_signal(descriptor.number, number)
}
