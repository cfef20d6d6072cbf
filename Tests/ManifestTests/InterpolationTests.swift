import Stoic
import Testing

@testable import Manifest

@Suite("What $ means in a value", .timeLimit(.minutes(1)))
struct InterpolationTests {
    private static var interpolator: Interpolator {
        Interpolator(environment: [
            "VAR": "value", "EMPTY": "", "TRICKY": "${VAR} $$ $VAR", "PATH_LIKE": "a:b",
        ])
    }

    @Test(
        "text comes out as",
        arguments: [
            ("$A", "$A"), ("5$", "5$"), ("p@ss#word", "p@ss#word"), ("two words", "two words"),
            ("", ""), ("k=v", "k=v"), (#"it's "q" \n \"#, #"it's "q" \n \"#), ("$$", "$"),
            ("$${VAR}", "${VAR}"), ("$$$$", "$$"), ("$$$", "$$"), ("${VAR}", "value"),
            ("a${VAR}b${VAR}", "avaluebvalue"), ("${EMPTY}", ""), ("${EMPTY:-x}", "x"),
            ("${NOPE:-a-b:c d}", "a-b:c d"), ("${NOPE:-}", ""), ("${VAR:-x}", "value"),
            ("${VAR:?needed}", "value"), ("${TRICKY}", "${VAR} $$ $VAR"), ("$(date)", "$(date)"),
            ("{VAR}", "{VAR}"), ("${NOPE:-db.local}", "db.local"), ("${PATH_LIKE}", "a:b"),
            ("☃$☃", "☃$☃"),
        ])
    func literal(_ text: String, _ expected: String) throws {
        #expect(try Self.interpolator.template(text).literalText == expected)
    }

    @Test(
        "CFG-12: a reference to nothing is refused",
        arguments: [
            ("${NOPE}", "the variable NOPE is not set (set it, or write ${NOPE:-default})"),
            ("${NOPE:?say where}", "the variable NOPE is not set: say where"),
            ("${EMPTY:?say where}", "the variable EMPTY is empty: say where"),
            ("a ${VAR", "${ has no } after it (write $${ for the characters themselves)"),
            ("${A:-${VAR}}", "a ${…} inside a ${…} means nothing here"),
        ])
    func refused(_ text: String, _ reason: String) { #expect(failure(text) == reason) }

    @Test(
        "an odd reference is refused and the right ones are listed",
        arguments: ["${}", "${1A}", "${VAR-x}", "${VAR:+x}", "${a.b:-c}", "${.key}", "${a b}"])
    func malformed(_ text: String) {
        let advice =
            "\(text) means nothing here (write ${VAR}, ${VAR:-default}, ${VAR:?message} or "
            + "${service.key}, or $${ for the characters themselves)"
        #expect(failure(text) == advice)
    }

    @Test("a service's value is a piece of its own, by the last dot")
    func references() throws {
        let template = try Self.interpolator.template("x${db.url}${VAR}${api.v2.port}")
        #expect(
            template.pieces == [
                .literal("x"), .reference("db", key: "url"), .literal("value"),
                .reference("api.v2", key: "port"),
            ])
    }

    @Test("CFG-4: environment values arrive byte for byte, in both forms")
    func environmentValues() throws {
        let yaml = #"""
            services:
              a:
                command: [a]
                environment:
                  A: x
                  B: '$A'
                  C: "$A"
                  D: 5$
                  E: p@ss#word
                  F: two words
                  G: ""
                  H: k=v
                  I: "it's \"quoted\" \\n"
                  J: NO
                  K: 010
                  L: 1e3
                  M: ${OUTER}
              b:
                command: [b]
                environment:
                  - A=x
                  - B=$A
                  - 'D=5$'
                  - E=p@ss#word
                  - F=two words
                  - G=
                  - H=k=v
                  - 'I=it''s "quoted" \n'
                  - M=${OUTER}
                  - N= padded
                  - OUTER
            """#
        let outer = "o$ut${er}"
        let project = try load(yaml, environment: ["OUTER": outer])
        let expected: [(String, String)] = [
            ("A", "x"), ("B", "$A"), ("D", "5$"), ("E", "p@ss#word"), ("F", "two words"), ("G", ""),
            ("H", "k=v"), ("I", #"it's "quoted" \n"#), ("M", outer),
        ]
        for name in ["a", "b"] {
            let service = try project.service(name)
            for (variable, value) in expected { #expect(service.variable(variable) == value) }
        }
        #expect(try project.service("a").variable("C") == "$A")
        #expect(try project.service("a").variable("J") == "NO")
        #expect(try project.service("a").variable("K") == "010")
        #expect(try project.service("a").variable("L") == "1e3")
        #expect(try project.service("b").variable("N") == " padded")
        #expect(try project.service("b").launch.environment.last == .inherited("OUTER"))
        #expect(try project.service("b").launch.environment.first == .inheritAll)
    }

    private func failure(_ text: String) -> String? {
        do throws(ValueError) { _ = try Self.interpolator.template(text) } catch {
            return error.description
        }
        return nil
    }
}
