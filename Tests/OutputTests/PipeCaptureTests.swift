import EventLoop
import Glibc
import Manifest
import Stoic
import Testing

@testable import Orchestrator

@Suite("PipeCapture: from real pipes", .timeLimit(.minutes(1)))
struct PipeCaptureTests {
    private func capture(
        _ web: OneService, _ pipe: inout TestPipe, incarnation: UInt64 = 1,
        _ stream: OutputStream = .combined
    ) throws -> PipeCapture {
        try PipeCapture(
            web.loop, descriptor: pipe.takeReadEnd(), log: web.log,
            incarnation: Incarnation(incarnation), stream: stream)
    }

    @Test("what a service writes is in its log, unchanged, when the loop has turned")
    func captures() throws {
        let web = try OneService()
        var pipe = try TestPipe()
        let capture = try capture(web, &pipe)
        var seen: [UInt8] = []
        capture.onBytes = { seen.append(contentsOf: $0) }
        pipe.write([0, 0xFF, 0x0A, 0x61])
        try run(web.loop) { !seen.isEmpty }
        #expect(seen == [0, 0xFF, 0x0A, 0x61])
        #expect(try web.scratch.bytes(web.path) == seen)
        capture.close()
        capture.close()
    }

    @Test(
        "OUT-11: a stranger holds the pipe open: the drain at the exit is bounded and never waits")
    func drains() throws {
        let web = try OneService()
        var pipe = try TestPipe()
        let capture = try capture(web, &pipe)
        pipe.write(String(repeating: "x", count: 60_000) + "\n")
        capture.drain(limit: 1 << 20)
        #expect(capture.isOpen)
        #expect(web.log.received == 60_001)
        pipe.write("left\n")
        capture.finish()
        #expect(web.reports.map(\.what) == [.leftInPipe(bytes: 5)])
    }

    @Test("OUT-9: a last line without newline is a line, and the next launch's is not glued to it")
    func lastLine() throws {
        let web = try OneService()
        var shown: [String] = []
        web.store.onLine = { shown.append("\($0.incarnation?.number ?? 0) \($0.text)") }
        for incarnation: UInt64 in 1...2 {
            var pipe = try TestPipe()
            let capture = try capture(web, &pipe, incarnation: incarnation)
            pipe.write("first\nlast")
            capture.drain(limit: 1 << 20)
            capture.finish()
        }
        let expected = ["1 first", "1 last", "2 first", "2 last"]
        #expect(shown == expected)
        let read = try web.lines()
        #expect(read.map { "\($0.incarnation?.number ?? 0) \($0.text)" } == expected)
        #expect(read.map(\.isUnfinished) == [false, true, false, true])
        let kept = web.store.tail(of: "web", lines: 10, incarnation: Incarnation(2))
        #expect(kept.map(\.text) == ["first", "last"])
        #expect(try web.scratch.bytes(web.path) == Array("first\nlastfirst\nlast".utf8))
    }

    private func captureOfClosedPipe(_ web: OneService) throws -> PipeCapture {
        var pipe = try TestPipe()
        return try capture(web, &pipe)
    }

    @Test("OUT-10: a closed stdout ends its watch, and the loop has nothing left to turn for")
    func closedStdout() throws {
        let web = try OneService()
        var turns = 0
        web.loop.onTurnEnd { turns += 1 }
        let capture = try captureOfClosedPipe(web)
        try web.loop.run()
        #expect(!capture.isOpen)
        #expect(turns < 10)
    }

    @Test("OUT-27: a service that reopens its stdout by name is captured")
    func reopened() throws {
        let web = try OneService()
        var pipe = try TestPipe()
        let capture = try capture(web, &pipe)
        let again = try FileCalls.open(
            "/proc/self/fd/\(pipe.writeEnd.number)", O_WRONLY | O_CLOEXEC)
        pipe.write("one\n")
        _ = FileCalls.write(Array("two\n".utf8).span, to: again.number)
        capture.drain(limit: 1 << 20)
        #expect(try web.lines().map(\.text) == ["one", "two"])
        capture.close()
    }

    @Test("OUT-8: a line of 64 MiB is captured whole, held in bounded memory, and shown cut")
    func hugeLine() throws {
        let web = try OneService {
            $0.maxBytes = 8 << 20
            $0.keptFiles = 1
        }
        var shown: [LogLine] = []
        web.store.onLine = { shown.append($0) }
        var pipe = try TestPipe()
        let capture = try capture(web, &pipe)
        let piece = [UInt8](repeating: 0x78, count: 65536)
        for _ in 0..<1024 {
            pipe.write(piece)
            capture.drain(limit: 1 << 20)
        }
        pipe.write("\nnext\n")
        capture.drain(limit: 1 << 20)
        capture.close()
        #expect(web.log.received == 64 << 20 + 6)
        #expect(web.log.dropped == 0)
        #expect(web.log.recent.cost <= 64 << 10)
        #expect(shown.map(\.isCut) == [true, false])
        #expect(shown.map(\.text.utf8.count) == [16 << 10, 4])
        let read = try web.lines(from: .last(2))
        #expect(read.map(\.isCut) == [true, false])
        #expect(read.last?.text == "next")
    }

    @Test("OUT-25: halves of two streams that arrive in turn are joined stream by stream")
    func twoStreams() throws {
        let web = try OneService()
        var out = try TestPipe()
        var err = try TestPipe()
        let first = try capture(web, &out, .standardOutput)
        let second = try capture(web, &err, .standardError)
        for (text, isError) in [("he", false), ("wa", true), ("llo\n", false), ("rn\n", true)] {
            if isError {
                err.write(text)
                second.drain(limit: 1 << 20)
            } else {
                out.write(text)
                first.drain(limit: 1 << 20)
            }
        }
        let lines = try web.lines()
        #expect(lines.map(\.text) == ["hello", "warn"])
        #expect(lines.map(\.stream) == [.standardOutput, .standardError])
        #expect(try web.scratch.bytes(web.path) == Array("hewallo\nrn\n".utf8))
        first.close()
        second.close()
    }

    @Test("a view that is opened in the middle of a line says so")
    func lateView() throws {
        let web = try OneService()
        var pipe = try TestPipe()
        let capture = try capture(web, &pipe)
        pipe.write("begin")
        capture.drain(limit: 1 << 20)
        let follower = web.store.follow()
        pipe.write(" end\nwhole\n")
        capture.drain(limit: 1 << 20)
        let lines = follower.take().elements
        #expect(lines.map(\.text) == [" end", "whole"])
        #expect(lines.map(\.isContinued) == [true, false])
        capture.close()
    }

    @Test("a flood from one service leaves the others their turn")
    func fair() throws {
        let web = try OneService()
        var loud = try TestPipe()
        var quiet = try TestPipe()
        let first = try capture(web, &loud)
        let second = try capture(web, &quiet, incarnation: 2)
        let piece = [UInt8](repeating: 0x0A, count: 65536)
        var isHeard = false
        first.onBytes = { [writeEnd = loud.writeEnd.number] _ in
            _ = FileCalls.write(piece.span, to: writeEnd)
        }
        second.onBytes = { _ in isHeard = true }
        loud.write(piece)
        quiet.write("here\n")
        try run(web.loop) { isHeard }
        #expect(web.log.received < 4 << 20)
        first.close()
        second.close()
    }
}
