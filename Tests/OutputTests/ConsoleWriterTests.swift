import EventLoop
import Glibc
import Testing

@testable import Orchestrator

@Suite("ConsoleWriter: a terminal never blocks", .timeLimit(.minutes(1)))
struct ConsoleWriterTests {
    /// Reads until `text` was seen, but no longer than 10 s.
    private func read(_ descriptor: Int32, until text: String) -> String {
        var seen: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&entry, 1, 10_000) > 0 {
            let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
            if count <= 0 { break }
            seen += buffer.prefix(count)
            if String(decoding: seen.suffix(200), as: UTF8.self).contains(text) { break }
        }
        return String(decoding: seen, as: UTF8.self)
    }

    @Test("what is written arrives, in order, and a flush waits for it")
    func arrives() throws {
        var pipe = try TestPipe()
        let readEnd = try pipe.takeReadEnd()
        let console = try ConsoleWriter(descriptor: pipe.writeEnd.number)
        for number in 0..<100 { console.write(Array("\(number)\n".utf8)) }
        #expect(console.flush(within: .seconds(10)))
        let text = read(readEnd.number, until: "99\n")
        #expect(text == (0..<100).map { "\($0)\n" }.joined())
        #expect(console.close(within: .seconds(10)))
        #expect(console.dropped == 0)
    }

    @Test("OUT-17: a held terminal costs output, which is counted and announced, and no time")
    func held() throws {
        var pipe = try TestPipe()
        let readEnd = try pipe.takeReadEnd()
        let console = try ConsoleWriter(descriptor: pipe.writeEnd.number, capacity: 100_000)
        let line = Array((String(repeating: "x", count: 999) + "\n").utf8)
        let start = ContinuousClock.now
        for _ in 0..<1000 { console.write(line) }
        #expect(!console.flush(within: .milliseconds(50)))
        #expect(ContinuousClock.now - start < .seconds(5))
        // At most the queue, a batch being written, and the pipe itself were taken.
        #expect(console.dropped >= 1_000_000 - 100_000 - 100_000 - 65_536)
        // The writer may have been late: then there is a batch, a notice, a batch and a notice.
        var lost = Int(console.dropped / 1000)
        for _ in 0..<2 where lost > 0 {
            let text = read(readEnd.number, until: " lines lost here: the terminal is too slow]\n")
            let notices = text.split(separator: "\n").filter { $0.hasPrefix("[") }
            lost -= notices.compactMap { Int($0.dropFirst().prefix(while: \.isNumber)) }
                .reduce(0, +)
        }
        #expect(lost == 0)
        console.write(Array("after\n".utf8))
        #expect(read(readEnd.number, until: "after\n") == "after\n")
        #expect(console.close(within: .seconds(10)))
    }

    @Test("OUT-17: the end of the process waits for a held terminal no longer than it says")
    func closes() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        let console = try ConsoleWriter(descriptor: ends[1])
        console.write([UInt8](repeating: 0x78, count: 200_000))
        let start = ContinuousClock.now
        #expect(!console.close(within: .milliseconds(100)))
        let waited = ContinuousClock.now - start
        #expect(waited >= .milliseconds(100) && waited < .seconds(5))
        console.write([0x78])
        #expect(console.dropped == 1)
        // Lets the thread end. The end it writes to stays open: its number must not be reused.
        close(ends[0])
    }

    @Test("OUT-18: a terminal that is gone ends the writing, not the process; the rest is counted")
    func gone() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            var ends: [Int32] = [-1, -1]
            guard unsafe pipe(&ends) == 0, close(ends[0]) == 0 else { exit(1) }
            let console = try ConsoleWriter(descriptor: ends[1])
            console.write(Array("nobody\n".utf8))
            if console.flush(within: .seconds(10)), console.dropped == 0 { exit(2) }
            console.write(Array("sees this\n".utf8))
            exit(console.dropped >= 10 ? 0 : 3)
        }
    }
}
