import CProcess
import CUV
import Glibc
import Synchronization

/// Runs blocking work on libuv's pool (four threads unless `UV_THREADPOOL_SIZE` says otherwise),
/// and then `then` on the loop's thread with the result.
///
/// The loop runs on until that happened. Queued work cannot be taken back, and the queue has no
/// bound of its own: the caller bounds how much it has out. `work` must end by itself: a loop with
/// unfinished work cannot be closed.
/// - Throws: what `uv_queue_work` answers; then neither closure ever runs.
public func queueWork<R: Sendable>(
    _ loop: Loop, _ work: @escaping @Sendable () -> R, then: @escaping (R) -> Void
) throws(UVError) {
    demand(loop.isOpen, "cannot queue work: the loop is closed")
    try WorkBox<R>(loop, work, then).start()
}

/// Makes the threads of the pool now, because libuv ends the process when it cannot make them at
/// the first use: where a user's processes are all used up, say.
/// - Throws: `EAGAIN` where the system allows no more threads.
public func startPool(_ loop: Loop) throws(UVError) {
    let error = cproc_try_threads(poolThreads)
    guard error == 0 else { throw UVError(code: -error, call: "pthread_create") }
    try queueWork(loop, {}, then: {})
}

/// As many as libuv makes by default.
private let poolThreads = 4

/// Work of all loops that has begun or waits, for `endProcess`.
private let outstanding = Mutex(0)

/// Ends the process. At an ordinary exit libuv waits for queued work without a bound (a lookup of a
/// name can take minutes); nobody needs its result any more, so it is left behind.
public func endProcess(with code: CInt) -> Never {
    guard outstanding.withLock({ $0 > 0 }) else { exit(code) }
    fflush(nil)
    _exit(code)
}

/// One request, without the type of its result: the C callbacks cannot be generic.
@safe private class WorkRequest {
    private let request: UnsafeMutablePointer<uv_work_t>
    private let loop: Loop

    init(_ loop: Loop) {
        unsafe request = .allocate(capacity: 1)
        self.loop = loop
    }

    deinit { unsafe request.deallocate() }

    final func start() throws(UVError) {
        let kept = unsafe Unmanaged.passRetained(self)
        unsafe request.pointee.data = unsafe kept.toOpaque()
        let result = unsafe uv_queue_work(loop.pointer, request, workRuns, workEnded)
        guard result >= 0 else {
            unsafe kept.release()
            throw UVError(code: result, call: "uv_queue_work")
        }
        loop.workStarted()
        outstanding.withLock { $0 += 1 }
    }

    /// On a thread of the pool. libuv's queue orders it before `finish`.
    func perform() { fatalError("a work request without work") }

    /// On the loop's thread.
    func finish() {
        outstanding.withLock { $0 -= 1 }
        loop.workEnded()
    }

    static func of(_ request: UnsafeMutablePointer<uv_work_t>?) -> Unmanaged<WorkRequest> {
        guard let request = unsafe request, let data = unsafe request.pointee.data else {
            fatalError("a work callback came without its request")
        }
        return unsafe Unmanaged<WorkRequest>.fromOpaque(data)
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
        guard case .done(let result) = state else {
            fatalError("queued work ended without running")
        }
        state = .delivered
        then(result)
    }
}

private func workRuns(_ request: UnsafeMutablePointer<uv_work_t>?) {
    unsafe WorkRequest.of(request).takeUnretainedValue().perform()
}

private func workEnded(_ request: UnsafeMutablePointer<uv_work_t>?, _ status: CInt) {
    unsafe WorkRequest.of(request).takeRetainedValue().finish()
}
