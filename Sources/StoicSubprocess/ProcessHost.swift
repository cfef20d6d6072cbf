import EventLoop
import Glibc
import Orchestrator
import Stoic

/// What the thread has for all programs: the loop, the gate that makes processes, the watch of
/// their orphans, and the directory of their sockets. Everything here runs on that thread.
final class ProcessHost {
    let loop: Loop
    let spawner: Spawner
    let orphans: OrphanWatch
    private let thread: ProcessThread
    private var wakeups: Wakeup?
    private var runs: [ObjectIdentifier: ProcessRun] = [:]
    private var directory: String?
    private var lastToken = UInt64.random(in: 1 << 32..<1 << 62)

    init(_ thread: ProcessThread) throws(UVError) {
        self.thread = thread
        loop = try Loop()
        spawner = try Spawner(loop)
        // This program may make children in other ways as well: those are left alone.
        orphans = try OrphanWatch(loop, spawner: spawner, strangers: .leave) { _ in }
        wakeups = try Wakeup(loop) {}
        loop.onTurnEnd { [unowned self] in turn() }
    }

    var wakeup: WakeupHandle {
        guard let wakeups else { preconditionFailure("a host without its wakeup") }
        return wakeups.handle
    }

    /// Runs until the loop cannot any more; then nobody waits for anything in vain.
    func run() -> ProcessFailure {
        let failure: ProcessFailure
        do {
            try loop.run()
            failure = .cannotWatch("the loop has ended")
        } catch {
            failure = .cannotWatch("\(error)")
        }
        for run in runs.values { run.life.fail(failure) }
        return failure
    }

    /// A number that no process of this program carries yet.
    func nextToken() -> UInt64 {
        lastToken += 1
        return lastToken
    }

    /// The directory of the notify sockets, which only we can list. Made when it is needed, removed
    /// when it is not.
    func notifyDirectory() throws(LaunchFailure) -> String {
        if let directory { return directory }
        // SAFETY: the text is copied at once; the template ends with a zero, and `mkdtemp` changes
        // its letters in place, within the closure.
        let parent = unsafe getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) }
        for parent in [parent, "/tmp"].compactMap({ $0 })
        where NotifySocket.fits(in: parent + "/stoic-XXXXXX") {
            var template = Array("\(parent)/stoic-XXXXXX".utf8CString)
            let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
                guard let start = buffer.baseAddress else { return false }
                return unsafe mkdtemp(start) != nil
            }
            guard isMade else { continue }
            let path = String(
                decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            directory = path
            return path
        }
        throw LaunchFailure(step: "make a directory for its socket", errorNumber: errno)
    }

    /// One turn: orders, then what each program's rules make of what was noticed.
    private func turn() {
        for order in thread.takeOrders() { obey(order) }
        let all = Array(runs.values)
        for run in all {
            run.turn()
            if run.isOver {
                run.close()
                runs[ObjectIdentifier(run.life)] = nil
            }
        }
        if runs.isEmpty, let path = directory {
            // SAFETY: the path is a text of ours, which lives through the call.
            unsafe rmdir(path)
            directory = nil
        }
        for run in all { run.tellEnd() }
    }

    private func obey(_ order: ProcessThread.Order) {
        switch order {
        case .start(let life):
            do {
                let run = try ProcessRun(life, self)
                runs[ObjectIdentifier(life)] = run
                run.begin()
            } catch {
                life.fail(.cannotWatch("\(error)"))
            }
        case .stop(let life, let reason, let within):
            runs[ObjectIdentifier(life)]?.stop(reason, within: within)
        case .force(let life): runs[ObjectIdentifier(life)]?.force()
        }
    }
}
