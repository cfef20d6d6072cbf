import CProcess
import Glibc
import Synchronization

/// Runs blocking work on a pool of four threads, which all loops of the process share, and then
/// `then` on the loop's thread with the result.
///
/// The loop runs on until that happened. Queued work cannot be taken back, and the queue has no
/// bound of its own: the caller bounds how much it has out. `work` must end by itself: a loop with
/// unfinished work cannot be closed.
/// - Throws: `EAGAIN` where the pool has no thread and none can be made; then neither closure ever
///   runs.
public func queueWork<R: Sendable>(
    _ loop: Loop, _ work: @escaping @Sendable () -> R, then: @escaping (R) -> Void
) throws(UVError) {
    demand(loop.isOpen, "cannot queue work: the loop is closed")
    try WorkBox<R>(loop, work, then).start()
}

/// Makes the threads of the pool now: later there may be no room for them, where a user's processes
/// are all used up, say.
/// - Throws: `EAGAIN` where the system allows no more threads.
public func startPool() throws(UVError) {
    let error = cproc_pool_start(poolThreads)
    guard error == 0 else { throw UVError(code: -error, call: "pthread_create") }
}

/// A lookup of a name that takes minutes must not keep a config from being read.
private let poolThreads = 4

/// Work of all loops that has begun or waits, for `endProcess`.
private let outstanding = Mutex(0)

/// Ends the process. An ordinary exit takes apart what queued work still uses, and that can go on
/// for minutes (a lookup of a name); nobody needs its result any more, so it is left behind.
public func endProcess(with code: CInt) -> Never {
    guard outstanding.withLock({ $0 > 0 }) else { exit(code) }
    fflush(nil)
    _exit(code)
}

/// One request, without the type of its result: the C callback cannot be generic.
@safe private class WorkRequest {
    private let node: UnsafeMutablePointer<cproc_work>
    private let loop: Loop
    /// Where it goes when it is done.
    private(set) final var shelf: WorkReturn.Shelf?

    init(_ loop: Loop) {
        // SAFETY: the request owns its node, and frees it in `deinit` alone.
        unsafe node = .allocate(capacity: 1)
        self.loop = loop
    }

    // SAFETY: the pool let go of the node before it ran the work that kept this alive.
    deinit { unsafe node.deallocate() }

    final func start() throws(UVError) {
        // Fewer threads than that are enough.
        _ = cproc_pool_start(poolThreads)
        shelf = try loop.workIsBegun().shelf
        // SAFETY: the retain keeps request and node until `finishWork`; the pool uses the node only
        // until then.
        let kept = unsafe Unmanaged.passRetained(self)
        unsafe node.initialize(
            to: cproc_work(next: nil, run: workRuns, context: kept.toOpaque()))
        outstanding.withLock { $0 += 1 }
        let error = unsafe cproc_pool_submit(node)
        guard error == 0 else {
            finish()
            unsafe kept.release()
            throw UVError(code: -error, call: "pthread_create")
        }
    }

    /// On a thread of the pool. The lock of the shelf orders it before `finish`.
    func perform() { fatalError("a work request without work") }

    /// On the loop's thread.
    func finish() {
        outstanding.withLock { $0 -= 1 }
        loop.workEnded()
    }
}

/// One request with its work, and then its result.
private final class WorkBox<R: Sendable>: WorkRequest {
    private enum State {
        case queued(@Sendable () -> R)
        case done(R)
        case delivered
    }

    private var state: State
    private let then: (R) -> Void

    init(_ loop: Loop, _ work: @escaping @Sendable () -> R, _ then: @escaping (R) -> Void) {
        state = .queued(work)
        self.then = then
        super.init(loop)
    }

    override func perform() {
        guard case .queued(let work) = state else { fatalError("queued work ran twice") }
        state = .done(work())
    }

    override func finish() {
        super.finish()
        switch state {
        case .done(let result):
            state = .delivered
            then(result)
        // It was never taken.
        case .queued: state = .delivered
        case .delivered: fatalError("queued work ended twice")
        }
    }
}

private func workRuns(_ context: UnsafeMutableRawPointer) {
    // SAFETY: the context is the request that `start` retained, and stays so until it is left on
    // the shelf.
    let shelf = unsafe performWork(context)
    // The request may be gone with this: its thread holds nothing of it any more.
    shelf?.leave(UInt(bitPattern: context))
}

@inline(never)  // so that it lets go of the request when it returns
@unsafe private func performWork(_ context: UnsafeMutableRawPointer) -> WorkReturn.Shelf? {
    // SAFETY: the context is the request that `start` retained.
    let request = unsafe Unmanaged<WorkRequest>.fromOpaque(context).takeUnretainedValue()
    request.perform()
    return request.shelf
}

/// On the loop's thread: takes back a request that was left.
func finishWork(_ address: UInt) {
    // SAFETY: the address is that of a request, left once by its thread, so the retain of `start`
    // is taken back once.
    guard let context = unsafe UnsafeMutableRawPointer(bitPattern: address) else {
        fatalError("work came back without its request")
    }
    unsafe Unmanaged<WorkRequest>.fromOpaque(context).takeRetainedValue().finish()
}
