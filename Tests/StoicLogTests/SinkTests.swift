import Glibc
import Stoic
import Testing

@testable import StoicLog

@Suite("sinks of the system's logs", .timeLimit(.minutes(1)))
struct SinkTests {
    private func event(_ text: String) -> Event {
        Event(
            EventName("retry.gaveUp"), .warning,
            [.init("error", text), .init("token", .text("hunter2"), secret: true)],
            scopePath: ["app", "db"], at: AnyClock.continuous.now)
    }

    @Test("LOG-1: the journal gets every field, newlines included, and no secret")
    func journal() async throws {
        let listener = try Listener()
        let sink = JournalSink(identifier: "app", socket: listener.path)
        sink.record(event("two\nlines"))
        #expect(await sink.flush(within: .seconds(10)))
        let entry = try String(decoding: listener.receive(), as: UTF8.self)
        #expect(entry.contains("PRIORITY=4\nSYSLOG_IDENTIFIER=app\nSTOIC_EVENT=retry.gaveUp\n"))
        #expect(entry.contains("STOIC_SCOPE=app/db\n"))
        #expect(entry.contains("STOIC_ERROR\n\u{9}\0\0\0\0\0\0\0two\nlines\n"))
        #expect(entry.contains("STOIC_TOKEN=<redacted>\n"))
        #expect(!entry.contains("hunter2"))
    }

    @Test("LOG-2: an entry too large for a datagram arrives as a file, whole")
    func large() async throws {
        let listener = try Listener()
        let sink = JournalSink(identifier: "app", socket: listener.path)
        let text = String(repeating: "x", count: 1_000_000)
        sink.record(event(text))
        #expect(await sink.flush(within: .seconds(10)))
        let entry = try String(decoding: listener.receive(), as: UTF8.self)
        #expect(entry.contains("STOIC_ERROR=\(text)\n"))
    }

    @Test("LOG-3: syslog gets one line of at most 1,024 bytes, cut between characters")
    func syslog() async throws {
        let listener = try Listener()
        let sink = SyslogSink(tag: "app", socket: listener.path)
        sink.record(event("short"))
        sink.record(event(String(repeating: "ü", count: 2_000)))
        #expect(await sink.flush(within: .seconds(10)))
        let short = try String(decoding: listener.receive(), as: UTF8.self)
        #expect(short.hasPrefix("<28>"))
        #expect(short.hasSuffix("]: warning app/db retry.gaveUp error=short token=<redacted>"))
        let long = try listener.receive()
        #expect((1_022...1_024).contains(long.count))
        #expect(String(validating: long, as: UTF8.self) != nil)
    }

    @Test("LOG-4: nobody listens, or listens again: lines are lost, and then are not")
    func reconnects() async throws {
        let listener = try Listener()
        let later = listener.path + ".later"
        let sink = SyslogSink(tag: "app", socket: later)
        sink.record(event("lost"))
        #expect(await sink.flush(within: .seconds(10)))
        #expect(unsafe rename(listener.path, later) == 0)
        // It tries again after its quiet time, and first says what was lost.
        let said = try String(decoding: listener.receive(), as: UTF8.self)
        #expect(said.hasSuffix("]: instrumentation.dropped events=1"))
        sink.record(event("there"))
        #expect(await sink.flush(within: .seconds(10)))
        let line = try String(decoding: listener.receive(), as: UTF8.self)
        #expect(line.contains("retry.gaveUp error=there"))
        #expect(unsafe rename(later, listener.path) == 0)
    }
}
