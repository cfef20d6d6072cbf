import EventLoop
import Glibc
import Manifest
import Stoic
import Testing

@testable import Orchestrator

@Suite("LogFile: what is on disk", .timeLimit(.minutes(1)))
struct LogFileTests {
    @Test("OUT-6: rotation loses nothing, bounds the files and keeps lines whole")
    func rotates() throws {
        let web = try OneService {
            $0.maxBytes = 4096
            $0.keptFiles = 3
        }
        var expected: [UInt8] = []
        for number in 0..<100 {
            let line = "line \(number) " + String(repeating: "x", count: 100) + "\n"
            expected += Array(line.utf8)
            web.write(line)
            web.time.advance(.milliseconds(2))
        }
        #expect(try web.scratch.wholeLog(web.path) == expected)
        for _ in 0..<1000 { web.write(String(repeating: "y", count: 99) + "\n") }
        let names = web.scratch.names(in: web.scratch.file("logs"))
        #expect(names.filter { !$0.hasSuffix(".index") }.count == 4)
        #expect(names.filter { $0.hasSuffix(".index") }.count == 4)
        for name in names {
            let bytes = try web.scratch.bytes(web.scratch.file("logs/\(name)"))
            #expect(bytes.count <= 4096)
            if !name.hasSuffix(".index") { #expect(bytes.last == 0x0A) }
        }
        #expect(web.reports.isEmpty)
    }

    @Test("OUT-6: a chunk much larger than a file is spread over several")
    func rotatesWithinChunk() throws {
        let web = try OneService {
            $0.maxBytes = 4096
            $0.keptFiles = 40
        }
        let chunk = (0..<65536).map { UInt8(truncatingIfNeeded: $0 % 251) }
        web.write(chunk)
        #expect(try web.scratch.wholeLog(web.path) == chunk)
    }

    @Test("no rotated file is kept where none is wanted")
    func keepsNone() throws {
        let web = try OneService {
            $0.maxBytes = 4096
            $0.keptFiles = 0
        }
        for _ in 0..<10 { web.write(String(repeating: "z", count: 999) + "\n") }
        #expect(web.scratch.names(in: web.scratch.file("logs")) == ["web.log", "web.log.index"])
        #expect(try web.scratch.bytes(web.path).count == 2000)
    }

    @Test("OUT-1: a removed log file reappears within a second of output, and it is reported")
    func removed() throws {
        let web = try OneService()
        web.write("one\n")
        web.scratch.remove(web.path)
        web.write("two\n")
        web.time.advance(.milliseconds(1001))
        web.write("three\n")
        #expect(try web.scratch.bytes(web.path) == Array("three\n".utf8))
        #expect(web.reports.map(\.what) == [.reopened])
        #expect(try web.lines().map(\.text) == ["three"])
    }

    @Test("OUT-1: a log renamed by a stranger is let go, and a new one begun")
    func renamed() throws {
        let web = try OneService()
        web.write("one\n")
        try FileCalls.rename(web.path, to: web.path + ".old")
        web.time.advance(.seconds(2))
        web.write("two\n")
        #expect(try web.scratch.bytes(web.path + ".old") == Array("one\n".utf8))
        #expect(try web.scratch.bytes(web.path) == Array("two\n".utf8))
    }

    @Test("OUT-2: a removed directory is made anew")
    func directoryRemoved() throws {
        let web = try OneService()
        web.write("one\n")
        web.scratch.remove(web.scratch.file("logs"))
        web.time.advance(.seconds(2))
        web.write("two\n")
        #expect(try web.scratch.bytes(web.path) == Array("two\n".utf8))
        #expect(web.reports.map(\.what) == [.reopened])
    }

    @Test("OUT-3: a directory in the way of the rotation: reported, capture goes on, disk bounded")
    func rotationBlocked() throws {
        let web = try OneService { $0.maxBytes = 4096 }
        web.write("one\n")
        let obstacle = web.path + ".1"
        try #require(unsafe mkdir(obstacle, 0o700) == 0)
        let line = String(repeating: "x", count: 999) + "\n"
        for _ in 0..<7 { web.write(line) }
        #expect(try web.scratch.bytes(web.path).count == 7004)
        #expect(web.reports.count == 1)
        guard case .rotationFailed(let error, failures: 1)? = web.reports.first?.what else {
            Issue.record("not reported as a failed rotation: \(web.reports)")
            return
        }
        #expect(error.code == EISDIR)
        for _ in 0..<7 { web.write(line) }
        #expect(try web.scratch.bytes(web.path).count <= 8192)
        #expect(web.log.dropped == 8004)
        #expect(web.log.dropped + UInt64(try web.scratch.bytes(web.path).count) == web.log.received)
        try #require(unsafe rmdir(obstacle) == 0)
        web.time.advance(.seconds(2))
        for _ in 0..<5 { web.write(line) }
        #expect(try FileCalls.facts(at: obstacle)?.kind == .regular)
        #expect(web.log.dropped == 8004)
    }

    @Test("OUT-4: no space: counted, reported at a limited rate, resumes by itself")
    func noSpace() throws {
        let web = try OneService()
        try FileCalls.makeDirectories(above: web.path)
        try #require(unsafe symlink("/dev/full", web.path) == 0)
        for _ in 0..<100 {
            web.write("lost\n")
            web.time.advance(.milliseconds(50))
        }
        #expect(web.log.dropped == 500)
        #expect(web.reports.count == 1)
        web.time.advance(.seconds(10))
        web.write("lost\n")
        #expect(web.reports.count == 2)
        guard case .dropped(bytes: 500, total: 505, let error)? = web.reports.last?.what else {
            Issue.record("not counted: \(web.reports)")
            return
        }
        #expect(error.code == ENOSPC)
        web.scratch.remove(web.path)
        try #require(unsafe symlink(web.scratch.file("real.log"), web.path) == 0)
        web.time.advance(.milliseconds(300))
        web.write("back\n")
        #expect(try web.scratch.bytes(web.scratch.file("real.log")) == Array("back\n".utf8))
        #expect(web.reports.last?.what == .resumed(lost: 505))
        #expect(web.store.tail(of: "web", lines: 2).map(\.text) == ["lost", "back"])
    }

    @Test("OUT-5: behind a link, the file is written and rotated where it is, and the link stays")
    func link() throws {
        let web = try OneService { $0.maxBytes = 4096 }
        try FileCalls.makeDirectories(above: web.path)
        try #require(unsafe mkdir(web.scratch.file("disk"), 0o700) == 0)
        try #require(unsafe symlink(web.scratch.file("disk/real.log"), web.path) == 0)
        for _ in 0..<6 { web.write(String(repeating: "x", count: 999) + "\n") }
        let names = ["real.log", "real.log.1", "real.log.1.index", "real.log.index"]
        #expect(web.scratch.names(in: web.scratch.file("disk")) == names)
        #expect(web.scratch.names(in: web.scratch.file("logs")) == ["web.log"])
        #expect(try web.lines().count == 6)
    }

    @Test("OUT-26: a FIFO without a reader as the log never blocks")
    func fifo() throws {
        let web = try OneService()
        try FileCalls.makeDirectories(above: web.path)
        try #require(unsafe mkfifo(web.path, 0o600) == 0)
        web.write("nobody reads\n")
        #expect(web.log.dropped == 13)
    }

    @Test("OUT-13: a log that somebody emptied goes on, and its index starts anew")
    func truncated() throws {
        let web = try OneService()
        web.write("a long first line\n", incarnation: 1)
        try #require(unsafe truncate(web.path, 0) == 0)
        web.time.advance(.seconds(2))
        web.write("next\n", incarnation: 2)
        let lines = try web.lines()
        #expect(lines.map(\.text) == ["next"])
        #expect(lines.map(\.incarnation) == [Incarnation(2)])
    }

    @Test("OUT-12: an index that does not fit its log, or is torn, is never believed")
    func staleIndex() throws {
        let web = try OneService()
        web.write("first run\n", incarnation: 1)
        web.store.close()
        try #require(unsafe truncate(web.path, 0) == 0)
        web.write("second run\n", incarnation: 2)
        web.store.close()
        let index = try FileCalls.openAppending(web.path + ".index")
        _ = FileCalls.write([1, 2, 3].span, to: index.number)
        web.write("third run\n", incarnation: 3)
        let lines = try web.lines()
        #expect(lines.map(\.text) == ["second run", "third run"])
        #expect(lines.map(\.incarnation) == [Incarnation(2), Incarnation(3)])
    }

    @Test("OUT-12: bytes without a record are shown, and credited to nobody")
    func missingIndex() throws {
        let web = try OneService()
        web.write("known\n", incarnation: 1)
        web.store.close()
        web.scratch.remove(web.path + ".index")
        web.write("known again\n", incarnation: 2)
        let lines = try web.lines()
        #expect(lines.map(\.text) == ["known", "known again"])
        #expect(lines.map(\.incarnation) == [nil, Incarnation(2)])
        #expect(lines[0].wall == 0)
    }

    @Test("the index is a header and 40 bytes a record; small writes close together share one")
    func indexFormat() throws {
        let web = try OneService()
        web.write("a")
        web.write("b")
        web.time.advance(.milliseconds(1))
        web.write("c")
        web.write("d", incarnation: 2)
        web.write("e", incarnation: 2, .standardError)
        let bytes = try web.scratch.bytes(web.path + ".index")
        #expect(Array(bytes[..<8]) == Array("orchlog1".utf8))
        let records = stride(from: 40, to: bytes.count, by: 40).map {
            IndexRecord(bytes[$0..<($0 + 40)])
        }
        #expect(records.map { $0?.offset } == [0, 2, 3, 4])
        #expect(records.map { $0?.incarnation?.number } == [1, 1, 2, 2])
        #expect(records.last??.stream == .standardError)
    }
}
