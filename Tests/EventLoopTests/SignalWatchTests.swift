import EventLoop
import Glibc
import Testing

@Suite("SignalWatch", .timeLimit(.minutes(1)))
struct SignalWatchTests {
    @Test("LOOP-22: a signal reaches every watch of it, and no watch of another")
    func everyWatch() async {
        await #expect(processExitsWith: .success) {
            let loop = try Loop()
            var log: [String] = []
            let one = try SignalWatch(loop, signal: SIGUSR1) { log.append("one") }
            let other = try SignalWatch(loop, signal: SIGUSR2) { log.append("other") }
            let two = try SignalWatch(loop, signal: SIGUSR1) {
                log.append("two")
                loop.stop()
            }
            #expect(kill(getpid(), SIGUSR1) == 0)
            #expect(log.isEmpty)
            try loop.run(atMost: .seconds(20))
            try loop.runWhatIsReady()
            #expect(log.sorted() == ["one", "two"])
            one.close()
            two.close()
            other.close()
            loop.close()
        }
    }

    @Test("LOOP-23: after the last watch of a signal closed, its default action is back")
    func defaultAction() async {
        await #expect(processExitsWith: .signal(SIGUSR1)) {
            let loop = try Loop()
            let watch = try SignalWatch(loop, signal: SIGUSR1) { loop.stop() }
            #expect(kill(getpid(), SIGUSR1) == 0)
            try loop.run(atMost: .seconds(20))
            watch.close()
            loop.close()
            deliverHere(SIGUSR1)
        }
    }

    @Test("LOOP-24: a signal that nobody can catch is refused, and nothing stays open")
    func uncatchable() async {
        await #expect(processExitsWith: .success) {
            let loop = try Loop()
            for signal in [SIGKILL, SIGSTOP, 0, 1_000] {
                #expect(throws: UVError(code: -EINVAL, call: "uv_signal_start")) {
                    _ = try SignalWatch(loop, signal: signal) {}
                }
            }
            loop.close()
        }
    }

    @Test("LOOP-29: a signal caught by a watch that closes before its turn is dropped quietly")
    func closedBefore() async {
        await #expect(processExitsWith: .success) {
            let loop = try Loop()
            let watch = try SignalWatch(loop, signal: SIGUSR1) {
                Issue.record("told after it was closed")
            }
            deliverHere(SIGUSR1)
            watch.close()
            loop.close()
        }
    }
}

/// Sends a signal to this thread, which has it when this returns. What is sent to the process may
/// reach another thread, later: after the watch closed, or after this one has ended the process.
/// The threads that tests run on may block signals.
private func deliverHere(_ signal: CInt) {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, signal)
    #expect(unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil) == 0)
    #expect(raise(signal) == 0)
}
