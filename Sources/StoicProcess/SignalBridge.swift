import Glibc
import Stoic
import Synchronization

/// Where the handlers write to: a pipe's end, or -1. A constant to begin with, so that a handler
/// needs nothing that has to be made first.
private let handlerPipe = Atomic<Int32>(-1)

/// Hears signals on a thread of its own, and passes them on to a graph.
final class SignalBridge: Sendable {
    /// Ends the thread.
    private static let closing: UInt8 = 0
    private static let caught = [SIGTERM, SIGINT, SIGHUP, SIGQUIT]

    private let graph: ServiceGraph
    private let budget: Duration
    private let pipe = Pipe(blocks: false)
    private let thread: Mutex<pthread_t?>
    private let before: Mutex<[(signal: Int32, action: sigaction)]>

    init(_ graph: ServiceGraph, budget: Duration) {
        self.graph = graph
        self.budget = budget
        thread = Mutex(nil)
        before = Mutex([])
        let (isFirst, _) = handlerPipe.compareExchange(
            expected: -1, desired: pipe.write, ordering: .sequentiallyConsistent)
        precondition(isFirst, "two graphs cannot both be ended by the signals of one process")
        startThread()
        catchSignals()
    }

    /// Puts everything back as it was.
    func close() {
        before.withLock { before in
            for entry in before {
                // SAFETY: the action is what the kernel handed out, and is only read; the byte is
                // one byte.
                var action = entry.action
                unsafe sigaction(entry.signal, &action, nil)
            }
            before = []
        }
        handlerPipe.store(-1, ordering: .sequentiallyConsistent)
        var byte = Self.closing
        _ = unsafe write(pipe.write, &byte, 1)
        if let thread = thread.withLock({ $0 }) { pthread_join(thread, nil) }
        pipe.close()
    }

    private func catchSignals() {
        for signal in Self.caught {
            install(signal) { signal in
                // SAFETY: `write` reads the one byte, and may be called in a handler.
                // Only what is safe in a handler: one write, and errno as it was.
                let saved = errno
                var byte = UInt8(truncatingIfNeeded: signal)
                _ = unsafe write(handlerPipe.load(ordering: .relaxed), &byte, 1)
                errno = saved
            }
        }
        install(SIGPIPE, SIG_IGN)
    }

    private func install(_ signal: Int32, _ handler: __sighandler_t?) {
        // SAFETY: the kernel copies both structures; of the union only the plain handler is used,
        // as without `SA_SIGINFO` it is the one that is meant.
        var old = sigaction()
        guard unsafe sigaction(signal, nil, &old) == 0 else { return }
        // What was ignored when we began stays ignored: `nohup` means it.
        let isIgnored = unsafe old.__sigaction_handler.sa_handler.isIgnore
        guard !isIgnored else { return }
        var new = sigaction()
        unsafe new.__sigaction_handler.sa_handler = handler
        new.sa_flags = SA_RESTART
        guard unsafe sigaction(signal, &new, nil) == 0 else { return }
        before.withLock { $0.append((signal, old)) }
    }

    // MARK: The thread

    private func startThread() {
        // SAFETY: the thread takes over the one retain.
        let box = unsafe Unmanaged.passRetained(self)
        var handle = pthread_t()
        let result = unsafe pthread_create(
            &handle, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<SignalBridge>.fromOpaque(argument).takeRetainedValue().listen()
                return nil
            }, box.toOpaque())
        guard result == 0 else { preconditionFailure("cannot start a thread: error \(result)") }
        thread.withLock { $0 = handle }
    }

    private func listen() {
        unblockSignals()
        var first: ContinuousClock.Instant?
        while true {
            let lastResort = first?.advanced(
                by: budget.saturatingSum(GracefulTermination.lastResortLead))
            guard let byte = next(before: lastResort) else { endProcess() }
            guard byte != Self.closing else { return }
            let signal = Int32(byte)
            if signal == SIGQUIT { dump() }
            guard let begin = first else {
                first = .now
                graph.requestStop(cause: .signal(signal))
                continue
            }
            if ContinuousClock.now - begin >= GracefulTermination.sameRequest { graph.force() }
        }
    }

    /// Takes the signals on this thread, whatever the others block: a process that was started from
    /// a thread that blocks signals, as worker threads do, begins with that mask.
    private func unblockSignals() {
        // SAFETY: the C functions fill and read a set of ours, and keep no pointer to it.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for signal in Self.caught { unsafe sigaddset(&signals, signal) }
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// The next byte of the pipe; `nil` when that moment passes first.
    private func next(before limit: ContinuousClock.Instant?) -> UInt8? {
        while true {
            var timeout: Int32 = -1
            if let limit {
                let left = (limit - .now) / .milliseconds(1)
                guard left > 0 else { return nil }
                timeout = Int32(min(left.rounded(.up), 1e9))
            }
            // SAFETY: `poll` gets one entry and `read` room for one byte.
            var entry = pollfd(fd: pipe.read, events: Int16(POLLIN), revents: 0)
            _ = unsafe poll(&entry, 1, timeout)
            var byte: UInt8 = 0
            if unsafe read(pipe.read, &byte, 1) == 1 { return byte }
        }
    }

    /// Nothing else helped.
    private func endProcess() -> Never {
        Self.say("the stop took longer than its budget of \(budget); ending all the same")
        _exit(GracefulTermination.budgetExceeded)
    }

    /// Says what the services do, and lets the process end as SIGQUIT would have ended it.
    private func dump() {
        Self.say((["SIGQUIT: \(graph.label)"] + graph.summary).joined(separator: "\n  "))
        _ = signal(SIGQUIT, SIG_DFL)
        _ = kill(getpid(), SIGQUIT)
    }

    /// One message on standard error.
    static func say(_ text: String) {
        // SAFETY: `write` only reads the array's bytes, within the closure.
        let bytes = Array((text + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
    }
}

extension Optional where Wrapped == @convention(c) (Int32) -> Void {
    /// Whether it is the disposition `SIG_IGN`, which is no function but the number 1.
    fileprivate var isIgnore: Bool {
        // SAFETY: a C function pointer, `nil` included, is as large as a word, and is not called.
        unsafe unsafeBitCast(self, to: UInt.self) == 1
    }
}
