import EventLoop
import Glibc
import Testing

@Suite("Loop", .timeLimit(.minutes(1)))
struct LoopTests {
    @Test("a run without anything to wait for ends, and can be repeated")
    func empty() throws {
        let loop = try Loop()
        try loop.run()
        try loop.run()
        loop.close()
        loop.close()
    }

    @Test("LOOP-10: running inside a callback, or after the end, is refused")
    func nested() throws {
        let loop = try Loop()
        var refused: UVError?
        let alarms = try Alarms<Int>(loop, clock: .awake) { _ in
            do throws(UVError) { try loop.run() } catch { refused = error }
            loop.stop()
        }
        alarms.arm(0, after: .zero)
        try loop.run()
        #expect(refused == UVError(code: -EBUSY, call: "uv_run"))
        alarms.close()
        loop.close()
        #expect(throws: UVError(code: -EINVAL, call: "uv_run")) { try loop.run() }
    }

    @Test("LOOP-11: a stop before the run ends the next run at once, and only that")
    func stopAhead() throws {
        let loop = try Loop()
        var fired = 0
        let alarms = try Alarms<Int>(loop, clock: .awake) { _ in
            fired += 1
            loop.stop()
        }
        alarms.arm(0, after: .zero)
        loop.stop()
        loop.stop()
        try loop.run()
        #expect(fired == 0)
        try loop.run()
        #expect(fired == 1)
        alarms.close()
        loop.close()
    }

    @Test("LOOP-12: what the last callback noticed still ends a turn, which may go on")
    func lastTurn() throws {
        let loop = try Loop()
        var log: [String] = []
        var alarms: Alarms<String>?
        func open(_ id: String) throws {
            alarms = try Alarms<String>(loop, clock: .awake) { id in
                log.append(id)
                alarms?.close()
            }
            alarms?.arm(id, after: .zero)
        }
        loop.onTurnEnd {
            guard log.last == "first" else { return }
            log.append("turn")
            do { try open("second") } catch { Issue.record(error) }
        }
        try open("first")
        try loop.run()
        #expect(log == ["first", "turn", "second"])
        alarms = nil
        loop.close()
    }

    @Test("turn ends come once a turn, in the order they were asked for")
    func turnEnds() throws {
        let loop = try Loop()
        let one = try DescriptorPair.pipe()
        let two = try DescriptorPair.pipe()
        var log: [String] = []
        loop.onTurnEnd { log.append("end") }
        loop.onTurnEnd { if log.count > 4 { loop.stop() } else { log.append("after") } }
        let watches = try [one.reading.number, two.reading.number].map { descriptor in
            try Watch(loop, descriptor: descriptor, interest: .readable) { _ in
                log.append("read")
            }
        }
        send("x", to: one.writing.number)
        send("x", to: two.writing.number)
        try loop.run(atMost: .seconds(20))
        #expect(log.prefix(5) == ["end", "after", "read", "read", "end"])
        for watch in watches { watch.close() }
        loop.close()
    }

    @Test("LOOP-13: a loop with nothing due makes no turn and no wakeup")
    func idle() throws {
        let loop = try Loop()
        var turns = 0
        let wakeup = try Wakeup(loop) {}
        let pipe = try DescriptorPair.pipe()
        let watch = try Watch(loop, descriptor: pipe.reading.number, interest: .readable) { _ in }
        let boot = try Alarms<Int>(loop, clock: .boot) { _ in }
        let awake = try Alarms<Int>(loop, clock: .awake) { _ in loop.stop() }
        boot.arm(0, after: .milliseconds(10))
        boot.disarm(0)
        boot.arm(1, after: .seconds(3600))
        awake.arm(0, after: .milliseconds(300))
        loop.onTurnEnd { turns += 1 }
        let before = try waitsOfThisThread()
        try loop.run()
        // One to wait for the alarm; the others, if any, are the allocator's locks. A tick of ten
        // milliseconds would make thirty.
        #expect(try waitsOfThisThread() - before < 10)
        #expect(turns == 1)
        wakeup.close()
        watch.close()
        boot.close()
        awake.close()
        loop.close()
    }

    @Test("both clocks go on between two readings in one callback")
    func now() throws {
        let loop = try Loop()
        let first = loop.now
        var second = loop.now
        while second.awake == first.awake { second = loop.now }
        #expect(second.awake > first.awake)
        #expect(second.boot > first.boot)
        #expect(first.boot >= first.awake)
        loop.close()
    }

    @Test("a loop and everything on it leaves no descriptor behind, closed or dropped")
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            // What the first use opens for the whole process (libuv's signal pipe) is no leak.
            try useEverything(isClosed: true)
            let before = try openDescriptorCount()
            for round in 0..<40 { try useEverything(isClosed: round.isMultiple(of: 2)) }
            // The process has other threads with files of their own: a leak would be twenty.
            #expect(try openDescriptorCount() - before < 10)
        }
    }

    @Test("LOOP-26: without descriptors left, everything is refused with the reason")
    func noDescriptors() async {
        await #expect(processExitsWith: .success) {
            let loop = try Loop()
            var limit = rlimit()
            try #require(unsafe getrlimit(__rlimit_resource_t(7), &limit) == 0)
            limit.rlim_cur = 3
            try #require(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
            #expect(throws: UVError(code: -EMFILE, call: "timerfd_create")) { _ = try Loop() }
            #expect(throws: UVError(code: -EMFILE, call: "timerfd_create")) {
                _ = try Alarms<Int>(loop, clock: .boot) { _ in }
            }
            loop.close()
        }
    }
}

/// Opens one of everything on a loop of its own, and closes it or lets it go.
private func useEverything(isClosed: Bool) throws {
    let loop = try Loop()
    let alarms = try Alarms<Int>(loop, clock: .boot) { _ in }
    let wakeup = try Wakeup(loop) {}
    let signal = try SignalWatch(loop, signal: SIGUSR1) {}
    alarms.arm(0, after: .seconds(3600))
    try loop.runWhatIsReady()
    guard isClosed else { return }
    alarms.close()
    wakeup.close()
    signal.close()
    loop.close()
}

/// How often this thread gave up the processor to wait for something.
private func waitsOfThisThread() throws -> Int {
    let own: CInt = 1  // RUSAGE_THREAD, which Glibc's Swift face leaves out
    var usage = rusage()
    try #require(unsafe getrusage(own, &usage) == 0)
    return usage.ru_nvcsw
}
