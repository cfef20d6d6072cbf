import Glibc
import Synchronization
import Testing

@testable import Orchestrator

@Suite("InstanceLock", .timeLimit(.minutes(1)))
struct InstanceLockTests {
    private let scratch = Scratch()
    private var path: String { "\(scratch.path)/lock" }

    private func acquire() throws -> InstanceLock {
        try InstanceLock.acquire(path: path, socket: "/run/a b/socket")
    }

    @Test("the holder says who it is; the file goes with the lock")
    func holder() throws {
        #expect(try InstanceLock.currentHolder(of: path) == nil)
        let lock = try acquire()
        let holder = try #require(try InstanceLock.currentHolder(of: path))
        #expect(holder == lock.holder)
        #expect(holder.process.pid == getpid() && holder.process.isAlive)
        #expect(holder.socket == "/run/a b/socket")
        do {
            _ = try acquire()
            Issue.record("taken twice")
        } catch ProjectError.alreadyRunning(let other, _) { #expect(other == holder) }
        lock.release()
        lock.release()
        #expect(Scratch.names(in: scratch.path).isEmpty)
        #expect(try InstanceLock.currentHolder(of: path) == nil)
    }

    @Test("CTL-5: in each of 20 rounds exactly one of 8 starters wins, and the others name it")
    func oneWinner() throws {
        for round in 0..<20 {
            let results = Mutex<(winners: [InstanceLock.Held], named: Int)>(([], 0))
            inParallel(8) { [path] _ in
                do {
                    let lock = try InstanceLock.acquire(path: path, socket: "s")
                    results.withLock { $0.winners.append(.init(lock)) }
                } catch ProjectError.alreadyRunning(let holder?, _) {
                    results.withLock { $0.named += holder.process.pid == getpid() ? 1 : 0 }
                } catch { Issue.record("round \(round): \(error)") }
            }
            let (winners, named) = results.withLock { ($0.winners.count, $0.named) }
            #expect(winners == 1 && named == 7, "round \(round)")
            results.withLock { state in
                for winner in state.winners { winner.release() }
            }
        }
    }

    @Test("CTL-6: takers and leavers who unlink the file never hold it at the same time")
    func neverTwo() {
        let inside = Atomic<Int>(0)
        let taken = Atomic<Int>(0)
        inParallel(4) { [path] _ in
            for _ in 0..<200 {
                do {
                    let lock = try InstanceLock.acquire(path: path, socket: "s")
                    let others = inside.add(1, ordering: .sequentiallyConsistent).oldValue
                    if others != 0 { Issue.record("two holders") }
                    taken.add(1, ordering: .relaxed)
                    inside.subtract(1, ordering: .sequentiallyConsistent)
                    lock.release()
                } catch ProjectError.alreadyRunning {
                } catch { Issue.record("\(error)") }
            }
        }
        #expect(taken.load(ordering: .relaxed) > 4)
    }

    @Test("a killed holder leaves a file that stops nobody; a lie in it neither")
    func leftFile() throws {
        Scratch.write("1 5 \(ProcessStamp.bootID() ?? "")\n/s", to: path)
        #expect(try InstanceLock.currentHolder(of: path) == nil)
        let lock = try acquire()
        #expect(lock.holder.process.pid == getpid())
    }

    @Test("looking never takes the lock from a starter")
    func lookers() {
        let stop = Atomic<Bool>(false)
        let failures = Atomic<Int>(0)
        let look = { @Sendable [path] in
            do { _ = try InstanceLock.currentHolder(of: path) } catch {
                failures.add(1, ordering: .relaxed)
            }
        }
        inParallel(4) { [path] index in
            while index > 0, !stop.load(ordering: .relaxed) { look() }
            guard index == 0 else { return }
            do {
                for _ in 0..<100 { try InstanceLock.acquire(path: path, socket: "s").release() }
            } catch { Issue.record("\(error)") }
            stop.store(true, ordering: .relaxed)
        }
        #expect(failures.load(ordering: .relaxed) == 0)
    }

    @Test("a holder that does not say who it is is waited for, a bounded while")
    func silentHolder() throws {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX) == 0)
        #expect(throws: ProjectError.alreadyRunning(nil, lock: path)) { try acquire() }
        #expect(throws: ProjectError.alreadyRunning(nil, lock: path)) {
            try InstanceLock.currentHolder(of: path)
        }
    }

    @Test("a link or a directory in place of the lock is refused")
    func refused() {
        unsafe symlink("/etc/hostname", path)
        #expect(throws: ProjectError.self) { try acquire() }
        unsafe unlink(path)
        unsafe mkdir(path, 0o700)
        #expect(throws: ProjectError.self) { try acquire() }
    }

    @Test("a lock whose file somebody removed removes no other file when it ends")
    func replacedFile() throws {
        let lock = try acquire()
        unsafe unlink(path)
        Scratch.write("another", to: path)
        lock.release()
        #expect(Scratch.read(path) == "another")
    }
}

extension InstanceLock {
    /// Carries a lock between the threads of a test, which use it one after the other.
    struct Held: Sendable {
        private let bits: UInt

        init(_ lock: InstanceLock) {
            bits = unsafe UInt(bitPattern: Unmanaged.passRetained(lock).toOpaque())
        }

        func release() {
            guard let pointer = unsafe UnsafeRawPointer(bitPattern: bits) else { return }
            unsafe Unmanaged<InstanceLock>.fromOpaque(pointer).takeRetainedValue().release()
        }
    }
}

/// Runs `body` on this many threads at once, and waits for all of them.
func inParallel(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let start = StartLine(count)
    let threads = (0..<count).map { index in
        startThread {
            start.wait()
            body(index)
        }
    }
    for thread in threads { pthread_join(thread, nil) }
}

/// Lets all threads go at the same moment.
final class StartLine: Sendable {
    private let waiting: Atomic<Int>
    init(_ count: Int) { waiting = Atomic(count) }
    func wait() {
        waiting.subtract(1, ordering: .acquiringAndReleasing)
        while waiting.load(ordering: .acquiring) > 0 { sched_yield() }
    }
}
