import Stoic
import Testing

@testable import Orchestrator

@Suite("LineAssembler", .timeLimit(.minutes(1)))
struct LineAssemblerTests {
    private func lines(_ chunks: [[UInt8]], limit: Int = 100, midLine: Bool = false) -> [LogLine] {
        var assembler = LineAssembler(
            "web", Incarnation(1), .combined, limit: limit, midLine: midLine)
        var lines: [LogLine] = []
        for chunk in chunks { assembler.feed(chunk.span, wall: 1) { lines.append($0) } }
        assembler.finish { lines.append($0) }
        return lines
    }

    @Test("joins halves, and keeps empty lines")
    func joins() {
        let made = lines([Array("a".utf8), Array("b\n\nc".utf8), Array("\nd".utf8)])
        #expect(made.map(\.text) == ["ab", "", "c", "d"])
        #expect(made.map(\.isUnfinished) == [false, false, false, true])
    }

    static let texts: [([UInt8], String)] = [
        (Array("é€😀".utf8), "é€😀"),
        ([0xFF], "\u{FFFD}"),
        ([0x61, 0xFF, 0x62], "a\u{FFFD}b"),
        ([0xE2, 0x82], "\u{FFFD}\u{FFFD}"),
        ([0xE2, 0x82, 0x61], "\u{FFFD}\u{FFFD}a"),
        ([0xC0, 0x80], "\u{FFFD}\u{FFFD}"),
        ([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"),
        ([0xF4, 0x90, 0x80, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
        ([0x80, 0xC3, 0xA9], "\u{FFFD}é"),
    ]

    @Test(
        "OUT-7: one mark for each bad byte, and none for text, wherever a chunk ends",
        arguments: texts)
    func decodes(bytes: [UInt8], text: String) {
        for edge in 0...bytes.count {
            let chunks = [Array(bytes[..<edge]), Array(bytes[edge...]) + [0x0A]]
            #expect(lines(chunks).map(\.text) == [text], "cut at \(edge)")
        }
    }

    @Test("cuts a line between characters, with a mark; later lines are whole")
    func cuts() {
        let made = lines([Array("ab€cd\nnext\n".utf8)], limit: 4)
        #expect(made.map(\.text) == ["ab", "next"])
        #expect(made.map(\.isCut) == [true, false])
        #expect(lines([Array("abcd\n".utf8)], limit: 4).map(\.isCut) == [false])
        #expect(lines([Array("abcd".utf8), Array("e\n".utf8)], limit: 4).map(\.isCut) == [true])
    }

    @Test("what begins in the middle says so")
    func continues() {
        let made = lines([Array("rest\nwhole\n".utf8)], midLine: true)
        #expect(made.map(\.isContinued) == [true, false])
    }

    @Test("a gap ends one line unfinished and begins the next without its beginning")
    func gap() {
        var assembler = LineAssembler("web", nil, .combined, limit: 100)
        var lines: [LogLine] = []
        assembler.feed(Array("before".utf8).span, wall: 1) { lines.append($0) }
        assembler.gap { lines.append($0) }
        assembler.feed(Array("after\n".utf8).span, wall: 2) { lines.append($0) }
        #expect(lines.map(\.text) == ["before", "after"])
        #expect(lines[0].isUnfinished && lines[1].isContinued)
    }
}
