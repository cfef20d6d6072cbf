import Stoic
import Testing

@testable import Orchestrator

@Suite("OutputRenderer", .timeLimit(.minutes(1)))
struct OutputRendererTests {
    private func draw(_ line: LogLine, _ style: OutputRenderer.Style) -> String {
        let renderer = OutputRenderer(style, names: ["web", "db", "worker"])
        return String(decoding: renderer.render(line), as: UTF8.self)
    }

    @Test("names share a column; into a pipe text goes as it is")
    func plain() {
        let line = LogLine("a\u{1B}[31mb\r", of: "db")
        #expect(draw(line, .init(isTerminal: false)) == "db     | a\u{1B}[31mb\r\n")
        #expect(draw(line, .init(isTerminal: false, hasName: false)) == "a\u{1B}[31mb\r\n")
        let timed = draw(line, .init(isTerminal: false, hasTime: true))
        #expect(timed.hasPrefix("--:--:--.--- db "))
    }

    static let neutral: [(String, String)] = [
        ("plain text\t✓", "plain text\t✓"),
        ("line\r", "line"),
        ("10%\r20%", "10%^M20%"),
        ("a\u{1B}[2Jb", "a^[[2Jb"),
        ("\u{1B}]0;title\u{07}", "^[]0;title^G"),
        ("\u{1B}[31mred\u{1B}[0m", "red"),
        ("\u{9B}31m\u{7F}", "<9B>31m^?"),
        ("abc\u{202E}cba", "abc<202E>cba"),
        ("\u{1B}", "^["),
        (
            "\u{1B}[" + String(repeating: "1", count: 40) + "m",
            "^[[" + String(repeating: "1", count: 40) + "m"
        ),
    ]

    @Test("OUT-19: what could act on the terminal is shown instead", arguments: neutral)
    func neutralised(text: String, shown: String) {
        #expect(Neutralizer.neutral(text) == shown)
    }

    @Test(
        "OUT-19: colours pass where we draw colours, and end with their line; hidden text does not")
    func colours() {
        #expect(Neutralizer.neutral("\u{1B}[1;31mred", true) == "\u{1B}[1;31mred\u{1B}[0m")
        #expect(Neutralizer.neutral("\u{1B}[8mhidden", true) == "hidden")
        #expect(Neutralizer.neutral("\u{1B}[08;1mhidden", true) == "hidden")
    }

    @Test("the colour of a name is the same in every run")
    func stable() {
        #expect(OutputRenderer.color(of: "web") == OutputRenderer.color(of: "web"))
        let line = LogLine("x", of: "web")
        let color = OutputRenderer.color(of: "web")
        #expect(
            draw(line, .init(isTerminal: true)) == "\u{1B}[\(color)mweb    |\u{1B}[0m x\n")
        #expect(draw(line, .init(isTerminal: true, hasColor: false)) == "web    | x\n")
    }

    @Test("cut and continued lines are marked")
    func marks() {
        var line = LogLine("middle", of: "web")
        line.isCut = true
        line.isContinued = true
        #expect(draw(line, .init(isTerminal: false)) == "web    | …middle… [cut]\n")
    }

    @Test("a line is one JSON object")
    func json() {
        var line = LogLine("a\"b", of: "web", incarnation: Incarnation(7), stream: .standardError)
        line.wall = 1_785_585_600_000_000_000
        line.isUnfinished = true
        var json = JSONWriter()
        line.write(to: &json)
        #expect(
            json.text == #"{"ts":"2026-08-01T12:00:00.000Z","wallNs":1785585600000000000,"#
                + #""service":"web","incarnation":7,"stream":"stderr","text":"a\"b","#
                + #""unfinished":true}"#)
    }
}
