import EventLoop
import Glibc
import Testing

@Suite("Loop, closed too early", .timeLimit(.minutes(1)))
struct LoopCloseTests {
    @Test("LOOP-8: closing a loop with open handles ends the process and names them")
    func names() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let loop = try Loop()
            let pipe = try DescriptorPair.pipe()
            let watch = try Watch(loop, descriptor: pipe.reading.number, interest: .readable) { _ in
            }
            let signal = try SignalWatch(loop, signal: SIGUSR2) {}
            let wakeup = try Wakeup(loop) {}
            withExtendedLifetime((watch, signal, wakeup)) { loop.close() }
        }
        let words = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(words.contains("cannot close the loop: left open: "))
        for name in ["watch of descriptor ", "watch of signal \(SIGUSR2)", "wakeup"] {
            #expect(words.contains(name))
        }
    }

    @Test("LOOP-9: closing a loop with unfinished work ends the process and counts it")
    func work() async throws {
        let result = try await #require(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            let loop = try Loop()
            for _ in 0..<3 { try queueWork(loop, { 1 }, then: { _ in }) }
            loop.close()
        }
        let words = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(words.contains("cannot close the loop: 3 queued work unfinished"))
    }

    @Test("LOOP-27: closing a loop inside its own callback ends the process")
    func inside() async {
        await #expect(processExitsWith: .failure) {
            let loop = try Loop()
            let alarms = try Alarms<Int>(loop, clock: .awake) { _ in loop.close() }
            alarms.arm(0, after: .zero)
            try loop.run()
        }
    }
}
