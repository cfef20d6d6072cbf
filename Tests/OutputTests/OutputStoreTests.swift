import EventLoop
import Manifest
import Stoic
import Testing

@testable import Orchestrator

@Suite("OutputStore: bounds over all services", .timeLimit(.minutes(1)))
struct OutputStoreTests {
    private func write(_ text: String, to log: ServiceLog, _ web: OneService) {
        log.append(Array(text.utf8).span, web.mark(), midLine: false)
    }

    @Test(
        "OUT-14: a loud service cannot push out the last words of a quiet one; the sum is bounded")
    func fairness() throws {
        let web = try OneService(
            limits: .init(recentPerService: 64 << 10, recentInAll: 256 << 10, openLogs: 64))
        let quiet = web.store.log(for: "quiet", OutputDefinition())
        write("last words\n", to: quiet, web)
        let loud = (0..<20).map { web.store.log(for: ServiceName("loud\($0)"), OutputDefinition()) }
        let flood = String(repeating: String(repeating: "x", count: 99) + "\n", count: 300)
        for _ in 0..<20 {
            for log in loud { write(flood, to: log, web) }
        }
        let held = (loud + [quiet]).map(\.recent.cost)
        #expect(held.reduce(0, +) <= 256 << 10)
        #expect((held.min() ?? 0) > 0)
        #expect(web.store.tail(of: "quiet", lines: 5).map(\.text) == ["last words"])
        #expect(web.store.tail(of: "loud3", lines: 5).count == 5)
    }

    @Test("OUT-14: of one service at most 64 KiB is held, however small or large its writes are")
    func perService() throws {
        let web = try OneService()
        for number in 0..<20_000 {
            web.write("\(number)\n")
            web.time.advance(.milliseconds(2))
            if web.log.recent.cost > 64 << 10 { Issue.record("\(web.log.recent.cost) bytes held") }
        }
        #expect(web.store.tail(of: "web", lines: 2).map(\.text) == ["19998", "19999"])
        #expect(web.store.tail(of: "web", lines: .max).count > 300)
        web.write(String(repeating: "y", count: 1 << 20))
        #expect(web.log.recent.cost <= 64 << 10)
        #expect(web.store.tail(of: "web", lines: 1).first?.isContinued == true)
    }

    @Test("a service that never wrote has no file, no memory, no lines")
    func silent() throws {
        let web = try OneService()
        #expect(web.log.recent.cost == 0)
        #expect(web.store.tail(of: "web", lines: 5).isEmpty)
        #expect(web.store.tail(of: "nobody", lines: 5).isEmpty)
        #expect(web.scratch.names(in: web.scratch.file("logs")).isEmpty)
    }

    @Test("the tail can be asked of one launch, and joins what came in pieces")
    func tail() throws {
        let web = try OneService()
        web.write("old\n", incarnation: 1)
        web.write("ne", incarnation: 2)
        web.time.advance(.seconds(1))
        web.write("w\n", incarnation: 2)
        let first = web.store.tail(of: "web", lines: 5, incarnation: Incarnation(1))
        let second = web.store.tail(of: "web", lines: 5, incarnation: Incarnation(2))
        #expect(first.map(\.text) == ["old"])
        #expect(second.map(\.text) == ["new"])
        #expect(web.store.tail(of: "web", lines: 1).map(\.text) == ["new"])
    }

    @Test(
        "OUT-15: more services that write than logs may be open: they take turns, nothing is lost")
    func openLogs() throws {
        let web = try OneService(limits: .init(openLogs: 3))
        let logs = (0..<10).map { web.store.log(for: ServiceName("s\($0)"), OutputDefinition()) }
        for round in 0..<5 {
            for log in logs {
                web.time.advance(.milliseconds(5))
                write("\(round)\n", to: log, web)
                #expect(logs.filter(\.isOpen).count <= 3)
            }
        }
        for log in logs {
            #expect(try web.scratch.bytes(log.path) == Array("0\n1\n2\n3\n4\n".utf8))
        }
    }

    @Test("OUT-16: a follower that does not take loses the oldest, and is told how many")
    func slowFollower() throws {
        let web = try OneService()
        var pipe = try TestPipe()
        let capture = try PipeCapture(
            web.loop, descriptor: pipe.takeReadEnd(), log: web.log, incarnation: Incarnation(1),
            stream: .combined)
        let follower = web.store.follow(["web"], capacity: 10)
        let stranger = web.store.follow(["db"])
        var calls = 0
        follower.onAvailable = { calls += 1 }
        for number in 0..<25 { pipe.write("\(number)\n") }
        capture.drain(limit: 1 << 20)
        let (dropped, lines) = follower.take(4)
        #expect(dropped == 15)
        #expect(lines.map(\.text) == ["15", "16", "17", "18"])
        #expect(follower.take().elements.count == 6)
        #expect(follower.take().dropped == 0)
        #expect(calls == 1)
        #expect(stranger.isEmpty)
        follower.close()
        stranger.close()
        #expect(!web.store.wantsLines)
        capture.close()
    }

    @Test("a config that changes is taken over; a service that left is forgotten, its file stays")
    func changes() throws {
        let web = try OneService()
        web.write("one\n")
        var definition = OutputDefinition()
        definition.file = web.scratch.file("elsewhere/web.log")
        #expect(web.store.log(for: "web", definition) === web.log)
        web.write("two\n")
        #expect(try web.scratch.bytes(web.scratch.file("logs/web.log")) == Array("one\n".utf8))
        #expect(try web.scratch.bytes(web.path) == Array("two\n".utf8))
        web.store.forget("web")
        #expect(web.store.tail(of: "web", lines: 1).isEmpty)
        #expect(try web.scratch.bytes(web.path) == Array("two\n".utf8))
    }
}
