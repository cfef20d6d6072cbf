import Glibc
import Manifest
import Stoic
import Testing

@testable import Orchestrator

@Suite("LogReader: lines from files", .timeLimit(.minutes(1)))
struct LogReaderTests {
    /// A service with small files that wrote `count` numbered lines, a second apart.
    private func numbered(_ count: Int, kept: Int = 100) throws -> OneService {
        let web = try OneService {
            $0.maxBytes = 4096
            $0.keptFiles = kept
        }
        for number in 0..<count {
            web.write("\(number) " + String(repeating: "x", count: 90) + "\n")
            web.time.advance(.seconds(1))
        }
        return web
    }

    private func number(_ line: LogLine) -> Int? { Int(line.text.prefix { $0 != " " }) }

    @Test(
        "the last N lines, over rotated files; all of them when there are fewer",
        arguments: [
            0, 1, 2, 41, 42, 43, 499, 500, 501, Int.max,
        ])
    func last(count: Int) throws {
        let web = try numbered(500)
        let lines = try web.lines(from: .last(count))
        #expect(lines.compactMap(number) == Array((0..<500).suffix(count)))
        #expect(lines.allSatisfy { !$0.isContinued && !$0.isCut && !$0.isUnfinished })
    }

    @Test("from a time on, over rotated files")
    func since() throws {
        let web = try numbered(200)
        let first = try #require(try web.lines().first)
        for seconds: Int64 in [-5, 0, 1, 77, 199] {
            let lines = try web.lines(from: .since(first.wall + seconds * 1_000_000_000))
            #expect(lines.compactMap(number) == Array((0..<200).dropFirst(Int(max(seconds, 0)))))
        }
        #expect(try web.lines(from: .since(first.wall + 1_000_000_000_000)).isEmpty)
    }

    @Test("OUT-20: a follower of the file sees every line once, over any number of rotations")
    func follows() throws {
        let web = try OneService {
            $0.maxBytes = 4096
            $0.keptFiles = 3
        }
        let reader = LogReader("web", file: web.path)
        try reader.seek(.end)
        var seen: [Int] = []
        for number in 0..<1000 {
            web.write("\(number) " + String(repeating: "x", count: 90) + "\n")
            // At most three rotations lie between two looks.
            if number % 100 == 99 { seen += try readAll(reader).compactMap(self.number) }
        }
        #expect(seen == Array(0..<1000))
        #expect(try readAll(reader).isEmpty)
    }

    @Test("OUT-20: a follower that was too slow goes on with the current file")
    func tooSlow() throws {
        let web = try OneService {
            $0.maxBytes = 4096
            $0.keptFiles = 1
        }
        web.write("first\n")
        let reader = LogReader("web", file: web.path)
        #expect(try readAll(reader).map(\.text) == ["first"])
        for number in 0..<400 { web.write("\(number) " + String(repeating: "x", count: 90) + "\n") }
        let seen = try readAll(reader).compactMap(number)
        let firstMissed = try #require(seen.indices.first { seen[$0] != $0 })
        #expect(seen[firstMissed...] == Array(seen[firstMissed]...399)[...])
    }

    @Test("a log that does not exist yet is followed once it does")
    func appears() throws {
        let web = try OneService()
        let reader = LogReader("web", file: web.path)
        try reader.seek(.last(10))
        #expect(try reader.next().isEmpty)
        web.write("hello\nhal")
        #expect(try readAll(reader).map(\.text) == ["hello"])
        web.write("f\n")
        #expect(try readAll(reader).map(\.text) == ["half"])
    }

    @Test("a removed and re-made log is followed; older files are not read again")
    func remade() throws {
        let web = try numbered(100)
        let reader = LogReader("web", file: web.path)
        try reader.seek(.end)
        web.scratch.remove(web.path)
        web.scratch.remove(web.path + ".index")
        web.time.advance(.seconds(2))
        web.write("new\n")
        #expect(try readAll(reader).map(\.text) == ["new"])
    }

    @Test("a log that was emptied is followed from its new beginning")
    func emptied() throws {
        let web = try OneService()
        web.write("something long\n")
        let reader = LogReader("web", file: web.path)
        #expect(try readAll(reader).count == 1)
        try #require(unsafe truncate(web.path, 0) == 0)
        web.time.advance(.seconds(2))
        web.write("new\n")
        #expect(try readAll(reader).map(\.text) == ["new"])
    }

    @Test("OUT-7: three-byte characters over every edge, and a bad byte; read from the middle too")
    func characters() throws {
        let web = try OneService()
        let text = String(repeating: "€", count: 30_000)
        let bytes = Array("a\(text)\n".utf8) + [0xE2]
        for start in stride(from: 0, to: bytes.count, by: 4096) {
            web.write(Array(bytes[start..<min(start + 4096, bytes.count)]))
        }
        web.time.advance(.milliseconds(50))
        web.write([0x82, 0xAC, 0x0A])
        web.write([0x61, 0xFF, 0x62, 0x0A])
        let lines = try web.lines()
        #expect(lines.map(\.text).dropFirst() == ["€", "a\u{FFFD}b"])
        #expect(lines.first?.isCut == true)
        #expect(lines.first?.text.unicodeScalars.contains("\u{FFFD}") == false)
        #expect(try web.lines(from: .last(2)).map(\.text) == ["€", "a\u{FFFD}b"])
    }

    @Test("lost bytes leave a mark where they are missing")
    func loss() throws {
        let web = try OneService()
        web.write("begin")
        try FileCalls.rename(web.path, to: web.scratch.file("aside"))
        try #require(unsafe symlink("/dev/full", web.path) == 0)
        web.time.advance(.seconds(2))
        web.write(" lost ")
        web.scratch.remove(web.path)
        try FileCalls.rename(web.scratch.file("aside"), to: web.path)
        web.time.advance(.seconds(2))
        web.write("end\n")
        let lines = try web.lines()
        #expect(lines.map(\.text) == ["begin", "end"])
        #expect(lines.map(\.isUnfinished) == [true, false])
        #expect(lines.map(\.isContinued) == [false, true])
    }

    @Test("a log that is no file cannot be read back, and that is said")
    func device() throws {
        let reader = LogReader("web", file: "/dev/full")
        #expect(throws: SystemError.self) { try reader.seek(.last(10)) }
    }
}
