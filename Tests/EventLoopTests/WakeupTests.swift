import EventLoop
import Glibc
import Synchronization
import Testing

@Suite("Wakeup", .timeLimit(.minutes(1)))
struct WakeupTests {
    @Test("LOOP-21: nothing that was posted before a wake is missed, from any number of threads")
    func concurrent() throws {
        let loop = try Loop()
        let posted = PostedCount()
        var seen = 0
        var reactions = 0
        let total = 4 * 2_000
        let wakeup = try Wakeup(loop) {
            reactions += 1
            seen += posted.take()
            if seen == total { loop.stop() }
        }
        let handle = wakeup.handle
        for _ in 0..<4 {
            try queueWork(
                loop,
                {
                    for _ in 0..<2_000 {
                        posted.add()
                        handle.wake()
                    }
                }, then: { _ in })
        }
        try loop.run(atMost: .seconds(20))
        #expect(seen == total)
        #expect(reactions <= total)
        wakeup.close()
        try loop.run()
        loop.close()
    }

    @Test("LOOP-20: a wake after the wakeup closed, or after the loop ended, does nothing")
    func late() throws {
        let loop = try Loop()
        var reactions = 0
        let wakeup = try Wakeup(loop) { reactions += 1 }
        let handle = wakeup.handle
        handle.wake()
        wakeup.close()
        wakeup.close()
        handle.wake()
        try loop.run()
        handle.wake()
        loop.close()
        handle.wake()
        #expect(reactions == 0)
    }

    @Test("LOOP-28: closing while other threads wake is safe")
    func closingMeanwhile() throws {
        let loop = try Loop()
        for _ in 0..<50 {
            let wakeup = try Wakeup(loop) {}
            let handle = wakeup.handle
            try queueWork(loop, { for _ in 0..<1_000 { handle.wake() } }, then: { _ in })
            wakeup.close()
            try loop.runWhatIsReady()
        }
        try loop.run()
        loop.close()
    }

    @Test("a dropped wakeup closes itself")
    func dropped() throws {
        let loop = try Loop()
        var handle: WakeupHandle?
        do {
            let wakeup = try Wakeup(loop) { Issue.record("woken after it was dropped") }
            handle = wakeup.handle
            handle?.wake()
        }
        try loop.run()
        handle?.wake()
        loop.close()
    }
}

/// What threads post before they wake.
private final class PostedCount: Sendable {
    private let count = Mutex(0)

    func add() { count.withLock { $0 += 1 } }

    func take() -> Int {
        count.withLock { count in
            defer { count = 0 }
            return count
        }
    }
}
