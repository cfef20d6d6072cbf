import CProcess
public import EventLoop
import Glibc
import Stoic

/// Makes processes, on threads of its own: an exec that hangs does not hang the loop.
///
/// Create one, on the main thread, before the first child. It makes this process the adopter of its
/// descendants' orphans. The threads never end (decision 0013).
@safe public final class Spawner {
    /// The least a launch can be: the words for its failure, and whom to tell.
    private struct Pending {
        let words: LaunchWords
        let then: (LaunchOutcome) -> Void
    }

    /// A launch under way.
    public struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    private enum State {
        case open(Watch)
        case closed
    }

    private let spawner: OpaquePointer
    private var state = State.closed
    private var pending: [UInt64: Pending] = [:]
    private var lastTicket: UInt64 = 0
    /// Launched and not yet anybody's tree: no stranger, though no tree knows it.
    private var unclaimed: Set<Int32> = []
    /// What the kernel grants, tried out when it was created.
    public let features: KernelFeatures

    /// Starts the threads and tries out the kernel.
    ///
    /// - Parameters:
    ///   - threads: launches at the same time, 1 to 8. Two keep two cores busy.
    ///   - missing: features to do without (`cproc_without`), for tests.
    /// - Throws: `ENOSYS` on a kernel without pidfds (older than 5.3).
    public init(_ loop: Loop, threads: Int = 2, without missing: UInt32 = 0) throws(UVError) {
        var started: OpaquePointer?
        // SAFETY: the spawner that comes back is ours, and is retired once: here, or in `close()`.
        let error = unsafe cproc_spawner_start(threads, missing, &started)
        guard error == 0, let started = unsafe started else {
            throw UVError(code: -error, call: "start the threads that launch")
        }
        unsafe spawner = started
        features = unsafe KernelFeatures(cproc_spawner_features(started))
        do {
            let event = unsafe cproc_spawner_descriptor(started)
            state = .open(
                try Watch(loop, descriptor: event, interest: .readable) { [unowned self] _ in
                    drain()
                })
        } catch {
            unsafe cproc_spawner_retire(started)
            throw error
        }
    }

    /// Called when the last launch under way has its outcome.
    var onOutcomes: () -> Void = {}
    /// No launch is under way, and a tree watches each that was made.
    var isIdle: Bool { pending.isEmpty && unclaimed.isEmpty }

    /// Launches that have no outcome yet.
    public var launchesUnderWay: Int { pending.count }

    /// Launches `request`; `then` gets the outcome in a later turn of the loop, or at once if it
    /// cannot be taken: when closed, with 65,536 launches under way, without a descriptor left.
    ///
    /// Bounded by the kernel alone: an exec from a dead network file system takes as long as that
    /// does, and holds back the launches behind it on its thread.
    /// - Returns: what `cancel` takes.
    @discardableResult
    public func launch(
        _ request: LaunchRequest, then: @escaping (LaunchOutcome) -> Void
    ) -> Ticket {
        let words = LaunchWords(request)
        lastTicket += 1
        let ticket = Ticket(number: lastTicket)
        // SAFETY: `submit` asks whether the spawner is still ours.
        let error = unsafe submit(request, ticket)
        guard error == 0 else {
            then(.failed(LaunchFailure(step: words.make, errorNumber: error)))
            return ticket
        }
        pending[lastTicket] = Pending(words: words, then: then)
        return ticket
    }

    @unsafe private func submit(_ request: LaunchRequest, _ ticket: Ticket) -> CInt {
        guard case .open = state else { return ESHUTDOWN }
        // SAFETY: the order is ours until it is submitted, and the spawner while we are open.
        guard let order = unsafe cproc_order_create(ticket.number) else { return ENOMEM }
        unsafe request.write(to: order)
        return unsafe cproc_spawner_submit(spawner, order)
    }

    /// Ends a launch that has no outcome yet, one whose exec hangs included. The outcome still
    /// comes: a failure with `ECANCELED`, or a process, if it ran just before.
    public func cancel(_ ticket: Ticket) {
        guard pending[ticket.number] != nil else { return }
        // SAFETY: a launch is pending, so the spawner was not retired.
        unsafe cproc_spawner_cancel(spawner, ticket.number)
    }

    /// A tree watches the process from now on.
    func claim(_ pid: Int32) { unclaimed.remove(pid) }

    /// Whether a process was launched and no tree watches it yet.
    func isUnclaimed(_ pid: Int32) -> Bool { unclaimed.contains(pid) }

    /// No more launches. Those under way are killed, and nobody is told.
    /// Idempotent.
    public func close() {
        guard case .open(let watch) = state else { return }
        state = .closed
        watch.close()
        pending = [:]
        // SAFETY: the state lets this be reached once; nobody uses the spawner afterwards.
        unsafe cproc_spawner_retire(spawner)
    }

    deinit { close() }

    private func drain() {
        // SAFETY: the spawner is ours while we are open, which is asked each time.
        var result = cproc_result()
        // `then` may close us.
        while case .open = state, unsafe cproc_spawner_take(spawner, &result) {
            finish(result)
            if pending.isEmpty { onOutcomes() }
        }
    }

    private func finish(_ result: cproc_result) {
        let pending = self.pending.removeValue(forKey: result.ticket)
        // The start of a thousand services must not cost its memory for ever.
        if self.pending.isEmpty { self.pending = [:] }
        guard result.step == CPROC_STEP_NONE else {
            let failure = pending?.words.failure(of: result)
            if let pending, let failure { pending.then(.failed(failure)) }
            return
        }
        unclaimed.insert(result.pid)
        let process = LaunchedProcess(result)
        guard let pending else { fatalError("a launch came back with an unknown ticket") }
        pending.then(.launched(process))
    }
}

extension LaunchRequest {
    /// Copies the request into an order. What C cannot say (a NUL inside a text) spoils it.
    @unsafe fileprivate func write(to order: OpaquePointer) {
        // SAFETY: the order is the caller's until it is submitted, and copies all that it is given.
        for argument in arguments { unsafe add(argument, order, cproc_order_add_argument) }
        for variable in environment { unsafe add(variable, order, cproc_order_add_variable) }
        for name in pidVariables { unsafe add(name, order, cproc_order_add_pid_variable) }
        unsafe add(workingDirectory, order, cproc_order_set_directory)
        if let identity, !isOurs(identity) {
            unsafe cproc_order_set_identity(
                order, identity.user, identity.group, identity.groups, identity.groups.count)
        }
        if let umask { unsafe cproc_order_set_umask(order, umask) }
        if let nice { unsafe cproc_order_set_nice(order, nice) }
        for limit in limits {
            unsafe cproc_order_add_limit(order, limit.resource, limit.soft, limit.hard)
        }
        for each in descriptors {
            unsafe cproc_order_add_descriptor(order, each.source, each.target)
        }
        if let cgroup { unsafe cproc_order_set_cgroup(order, cgroup, insistsOnCgroup) }
        if let deathSignal { unsafe cproc_order_set_death_signal(order, deathSignal) }
        unsafe cproc_order_set_token(order, token)
    }

    @unsafe private func add(
        _ text: String, _ order: OpaquePointer,
        _ call: (OpaquePointer, UnsafePointer<CChar>) -> Void
    ) {
        // SAFETY: the text lives through the closure, and the order copies it.
        if text.utf8.contains(0) { return unsafe cproc_order_spoil(order, EINVAL) }
        unsafe text.withCString { unsafe call(order, $0) }
    }

    /// Who is not root cannot set groups, not even to what they are.
    private func isOurs(_ identity: Identity) -> Bool {
        geteuid() != 0 && identity.user == geteuid() && identity.group == getegid()
    }
}
