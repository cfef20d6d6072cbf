import EventLoop
import Glibc
import Manifest
import Stoic
import Testing

@testable import Orchestrator

@Suite("probes and lines", .timeLimit(.minutes(1)))
struct ProbeTests {
    private static let command = ReadyDefinition.exec(
        [Template(literal: "check"), Template(literal: "-q")], timeout: .seconds(2))

    @Test("RDY-28: tries of a command never overlap and grow apart from 50 ms by half")
    func cadence() throws {
        let bench = try Bench()
        var starts: [Duration] = []
        var running = 0
        var isReady = false
        let probe: ProbeRunner = { arguments, timeout, completion in
            #expect(arguments == ["check", "-q"] && timeout == .seconds(2))
            #expect(running == 0)
            running += 1
            starts.append(bench.loop.now.awake)
            let number = starts.count
            _ = bench.timers.after(.milliseconds(10)) {
                running -= 1
                completion(.ended(.code(number < 5 ? 1 : 0), tail: "not\u{1B}yet"))
            }
            return {}
        }
        let watch = ReadinessWatch(Self.command, context: bench.context(probe: probe)) {
            isReady = true
        }
        #expect(try bench.run { starts.count == 2 })
        #expect(watch.lastFailure == "the probe check exited with code 1: not yet")
        #expect(try bench.run { isReady })
        let gaps = zip(starts, starts.dropFirst()).map { $1 - $0 }
        let least = [60, 85, 122, 178].map { Duration.milliseconds($0) }
        #expect(zip(gaps, least).allSatisfy { $0 >= $1 })
        watch.close()
        bench.close()
    }

    @Test("the wait between two tries stays at a second")
    func longestWait() {
        var wait = RepeatedCheck.firstWait
        for _ in 0..<100 { wait = min(wait * 3 / 2, RepeatedCheck.longestWait) }
        #expect(wait == .seconds(1))
    }

    @Test("RDY-29: a try under way is cancelled by close, and its answer means nothing")
    func cancelled() throws {
        let bench = try Bench()
        var answer: ((CommandOutcome) -> Void)?
        var cancelled = 0
        let probe: ProbeRunner = { _, _, completion in
            answer = completion
            return { cancelled += 1 }
        }
        let watch = ReadinessWatch(Self.command, context: bench.context(probe: probe)) {
            Issue.record("ready after close")
        }
        #expect(try bench.run { answer != nil })
        watch.close()
        watch.close()
        #expect(cancelled == 1)
        answer?(.ended(.code(0), tail: ""))
        #expect(bench.timers.count == 0)
        bench.close()
    }

    @Test("RDY-30: a command with a value that is not there fails in words")
    func unresolved() throws {
        let bench = try Bench()
        let template = Template([.reference("db", key: "url")])
        let outcome = try bench.outcome(.exec([template], timeout: .seconds(1)))
        #expect(outcome.missing == "the probe's command refers to a value that is not there")
        bench.close()
    }

    private func log(_ pattern: String, _ chunks: [String], drains: Bool = false) throws -> Bool {
        let bench = try Bench()
        var isReady = false
        let watch = ReadinessWatch(.log(pattern), context: bench.context()) { isReady = true }
        for chunk in chunks {
            unsafe Array(chunk.utf8).withUnsafeBytes { unsafe watch.noteOutput($0) }
        }
        if drains { watch.drain() }
        watch.close()
        bench.close()
        return isReady
    }

    @Test("a line matches wherever reads cut it, and only once it ended")
    func lines() throws {
        #expect(try log("^ready to accept$", ["x\nrea", "dy to ", "accept\n"]))
        #expect(try log("^ready$", ["ready\r\n"]))
        #expect(try !log("ready", ["ready"]))
        #expect(try log("ready", ["ready"], drains: true))
        #expect(try log("listening on [0-9]+", ["a\0b listening on 80\n"]))
        #expect(try !log("^b", ["a\0b\n"]))
    }

    @Test("RDY-31: only the first 16 KiB of a line are looked at, and the next line counts")
    func longLine() throws {
        let long = String(repeating: "x", count: LogCheck.lineMax)
        #expect(try !log("ready", [long + "ready\n"]))
        #expect(try log("ready", [long + long, "more\nready\n"]))
        #expect(try log("^x+ready$", [long.dropLast(5) + "ready\n"]))
    }

    @Test("RDY-32: a pattern that is none never matches and says so")
    func wrongPattern() throws {
        let bench = try Bench()
        let outcome = try bench.outcome(.log("(("), within: .milliseconds(20))
        #expect(outcome.missing == "(( is not a POSIX extended regular expression")
        bench.close()
    }

    @Test("RDY-33: all waits for every part, any for one; the rest is released")
    func combined() throws {
        let bench = try Bench()
        var ready: [String] = []
        let both: [ReadyDefinition] = [.notify, .log("up")]
        let all = ReadinessWatch(.all(both), context: bench.context()) { ready.append("all") }
        let any = ReadinessWatch(
            .any([.delay(.seconds(60)), .all([.notify, .completion]), .notify]),
            context: bench.context()
        ) { ready.append("any") }
        #expect(all.lastFailure == "no READY=1 yet; no line of output matches up yet")
        for watch in [all, any] { watch.noteNotifyReady() }
        #expect(ready == ["any"])
        #expect(bench.timers.count == 0)
        #expect(all.lastFailure == "no line of output matches up yet")
        unsafe Array("up\n".utf8).withUnsafeBytes { unsafe all.noteOutput($0) }
        #expect(ready == ["any", "all"])
        bench.close()
    }

    @Test("RDY-34: pipes nobody asked for are closed, those of parts when the watch is")
    func pipes() async {
        await #expect(processExitsWith: .success) {
            let bench = try Bench()
            let before = openDescriptors()
            var first: [CInt] = [-1, -1]
            var second: [CInt] = [-1, -1]
            #expect(makePipe(&first))
            #expect(makePipe(&second))
            let watch = ReadinessWatch(
                .any([.descriptor(3), .notify]),
                context: bench.context([3: first[0], 4: second[0]])
            ) {}
            watch.noteNotifyReady()
            close(first[1])
            close(second[1])
            watch.close()
            #expect(noneIsLeft(since: before))
            bench.close()
        }
    }
}
