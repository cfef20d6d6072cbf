import Glibc
import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("sinks", .timeLimit(.minutes(5)))
struct SinkTests {
    private func event(_ name: String, _ fields: [Event.Field] = []) -> Event {
        Event(
            EventName(name), .warning, fields, scopePath: ["app", "db"],
            at: AnyClock.continuous.now)
    }

    /// The line that a sink of text has for events that were dropped.
    private static let drops: @Sendable (Int) -> [UInt8] = {
        Array(EventText(showsPriority: false).dropped($0).utf8)
    }

    /// A writer whose destination blocks until it is released.
    private final class Gate: Sendable {
        let isOpen = Mutex(false)
        let lines = Mutex<[String]>([])
        /// Set from the writer's own thread.
        let entered = Completion<Void>()
        let saidDrops = Completion<Void>()

        func write(_ line: [UInt8]) -> BackgroundWriter.Outcome {
            entered.fulfil(())
            // A thread of its own: what it waits for is a lock, as it would for a full pipe.
            while !isOpen.withLock({ $0 }) { sched_yield() }
            let text = String(decoding: line, as: UTF8.self)
            lines.withLock { $0.append(text) }
            if text.contains("instrumentation.dropped") { saidDrops.fulfil(()) }
            return .written
        }
    }

    @Test("INS-1: a destination that blocks holds nobody up; the oldest lines go, and that is said")
    func blocked() async {
        let gate = Gate()
        let writer = BackgroundWriter("gate", describeDrop: Self.drops) { gate.write($0) }
        writer.enqueue(Array("0".utf8))
        _ = await gate.entered.wait()
        for number in 1...5_000 { writer.enqueue(Array("\(number)".utf8)) }
        #expect(writer.dropped == 5_000 - BackgroundWriter.capacity)
        gate.isOpen.withLock { $0 = true }
        #expect(await writer.flush(within: .seconds(20)))
        // Said at most once a second, and at the latest when nothing more has come for a while.
        await gate.saidDrops.wait()
        let lines = gate.lines.withLock { $0 }
        #expect(lines.first == "0")
        let said = "warning instrumentation.dropped events=\(5_000 - BackgroundWriter.capacity)\n"
        #expect(lines.filter { $0.hasPrefix("warning") } == [said])
        #expect(lines.last { !$0.hasPrefix("warning") } == "5000")
        #expect(lines.count == BackgroundWriter.capacity + 2)
    }

    @Test("INS-1: a flush ends at its limit though the destination blocks")
    func boundedFlush() async {
        let gate = Gate()
        let writer = BackgroundWriter("gate") { _ in
            []
        } write: {
            gate.write($0)
        }
        writer.enqueue(Array("0".utf8))
        #expect(await !writer.flush(within: .milliseconds(50)))
        gate.isOpen.withLock { $0 = true }
        #expect(await writer.flush(within: .seconds(20)))
    }

    @Test("INS-2: a destination that fails is left alone for a while, and said once")
    func failing() async {
        let calls = Mutex(0)
        let writer = BackgroundWriter("a full disk") { _ in
            []
        } write: { _ in
            calls.withLock { $0 += 1 }
            return .failed(ENOSPC)
        }
        let begin = ContinuousClock.now
        for _ in 0..<100 { writer.enqueue(Array("line".utf8)) }
        #expect(await writer.flush(within: .seconds(20)))
        // Once, and once more for every second, the shortest quiet time, that a slow machine took.
        let seconds = Int(begin.duration(to: .now).components.seconds)
        #expect(calls.withLock { $0 } <= 2 + seconds)
        #expect(writer.dropped == 100)
    }

    @Test("INS-2: a destination that works again hears how much it missed")
    func recovers() async {
        let gate = Gate()
        gate.isOpen.withLock { $0 = true }
        let hasFailed = Mutex(false)
        let writer = BackgroundWriter("a disk", describeDrop: Self.drops) { line in
            let isFirst = hasFailed.withLock { hasFailed in
                defer { hasFailed = true }
                return !hasFailed
            }
            return isFirst ? .failed(ENOSPC) : gate.write(line)
        }
        writer.enqueue(Array("lost".utf8))
        #expect(await writer.flush(within: .seconds(20)))
        await gate.saidDrops.wait()
        #expect(gate.lines.withLock { $0 } == ["warning instrumentation.dropped events=1\n"])
        #expect(writer.dropped == 1)
    }

    @Test("INS-2: a closed pipe does not end the process, and is no error of whoever reports")
    func closedPipe() async throws {
        await #expect(processExitsWith: .success) { await reportIntoClosedPipe() }
    }

    @Test("INS-3: what is secret is in no sink")
    func secrets() {
        let event = event(
            "a.b", [.init("password", .text("hunter2"), secret: true), .init("user", "me too")])
        let text = EventText(showsPriority: true).line(event)
        #expect(text == "<4>warning app/db a.b password=<redacted> user=\"me too\"\n")
        let json = EventJSON.line(event)
        #expect(json.contains("\"password\":\"<redacted>\",\"user\":\"me too\""))
        #expect(!json.contains("hunter2"))
    }

    @Test("a line stays one line, whatever is in it")
    func oneLine() {
        let nasty = event("a.b", [.init("x", "1\n2\t\"3\" \u{1}"), .init("y", "")])
        let text = EventText(showsPriority: false).line(nasty)
        #expect(text == "warning app/db a.b x=\"1\\n2\\t\\\"3\\\" \\u0001\" y=\"\"\n")
        #expect(EventJSON.line(nasty).filter(\.isNewline).count == 1)
    }

    @Test(
        "a duration is short enough to read",
        arguments: [
            (Duration.zero, "0s"), (.seconds(30), "30s"), (.milliseconds(1_500), "1.5s"),
            (.seconds(0.146_970_286_984), "147ms"), (.nanoseconds(1_234), "1.23µs"),
            (.nanoseconds(7), "7ns"), (.seconds(-12.34), "-12.3s"), (.century, "3155760000s"),
        ])
    func durations(_ duration: Duration, _ text: String) {
        let line = EventText(showsPriority: false).line(event("a.b", [.init("after", duration)]))
        #expect(line == "warning app/db a.b after=\(text)\n")
    }

    @Test("INS-5: a sink that reports from within is not called again")
    func reentrant() async {
        struct Loop: Instrumentation {
            let count = Box()
            func record(_ event: Event) {
                count.value.withLock { $0 += 1 }
                emit(.scopeClosed, .error)
            }
            final class Box: Sendable { let value = Mutex(0) }
        }
        let loop = Loop()
        await withAmbient {
            $0.instrumentation = loop
        } operation: {
            emit(.scopeOpened, .error)
        }
        #expect(loop.count.value.withLock { $0 } == 1)
    }

    @Test("sinks fan out and filter by level and by rule")
    func composed() {
        let all = EventRecorder()
        let some = EventRecorder()
        let fan = InstrumentationFanOut([
            all, InstrumentationFilter(some) { $0.name.text.hasPrefix("keep") },
        ])
        fan.record(event("keep.this"))
        fan.record(event("drop.this"))
        #expect(all.names == ["keep.this", "drop.this"])
        #expect(some.names == ["keep.this"])
    }
}

/// Reports ten events into a pipe that nobody reads, and ends the process with 0 if it survives.
private func reportIntoClosedPipe() async {
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { exit(2) }
    close(ends[0])
    _ = signal(SIGPIPE, SIG_IGN)
    let sink = JSONLinesSink(to: ends[1])
    await withAmbient {
        $0.instrumentation = sink
    } operation: {
        for _ in 0..<10 { emit(.scopeOpened, .notice) }
    }
    guard await sink.flush(within: .seconds(10)) else { exit(3) }
    exit(0)
}
