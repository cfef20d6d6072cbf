import Testing

@testable import Manifest

@Suite("Commands as text", .timeLimit(.minutes(1)))
struct CommandTests {
    private static var interpolator: Interpolator {
        Interpolator(environment: ["PORT": "80 80", "EMPTY": ""])
    }

    private func split(_ text: String) throws(ValueError) -> [String] {
        var splitter = CommandSplitter(text, Self.interpolator)
        return try splitter.split().map { $0.resolved { "<\($0).\($1)>" } ?? "?" }
    }

    @Test(
        "is split",
        arguments: [
            ("postgres -D data", ["postgres", "-D", "data"]),
            ("  a \t b  ", ["a", "b"]),
            ("a 'b c' \"d e\"", ["a", "b c", "d e"]),
            ("a '' \"\"", ["a", "", ""]),
            ("a b'c'\"d\"e", ["a", "bcde"]),
            (#"a \| \$ b\ c \\"#, ["a", "|", "$", "b c", "\\"]),
            (#"a "\"q\" \\ \$x \n""#, ["a", #""q" \ $x \n"#]),
            (#"a '\ " $x ${PORT}'"#, ["a", #"\ " $x ${PORT}"#]),
            ("sh -c \"echo $HOME | cat > x\"", ["sh", "-c", "echo $HOME | cat > x"]),
            ("a ${PORT} x${PORT}y", ["a", "80 80", "x80 80y"]),
            ("a \"${PORT}\" ${EMPTY}", ["a", "80 80", ""]),
            ("a ${db.url} ${my-db.port}1", ["a", "<db.url>", "<my-db.port>1"]),
            ("a \\\n  b", ["a", "b"]),
            ("\na b\n", ["a", "b"]),
            ("a # b", ["a", "#", "b"]),
            ("a k=v ü☃", ["a", "k=v", "ü☃"]),
            ("a \"$$\"", ["a", "$"]),
        ])
    func splits(_ text: String, _ arguments: [String]) throws {
        #expect(try split(text) == arguments)
    }

    @Test(
        "CFG-18: what only a shell could do is refused",
        arguments: ["|", "&", ";", "<", ">", "(", ")", "$", "`", "*", "~"])
    func shellOnly(_ character: String) {
        for text in ["a \(character) b", "a x\(character)HOME"] {
            let reason =
                "an unquoted \(character) needs a shell, and the command is not run by one "
                + "(quote it, or say shell: true)"
            #expect(throws: ValueError.self) { try split(text) }
            #expect(failure(text) == reason)
        }
    }

    @Test(
        "is refused",
        arguments: [
            ("a 'b", "a ' is never closed"), ("a \"b", "a \" is never closed"),
            ("   ", "the command is empty"),
            ("a \\", "a backslash ends the command; it would keep the next character"),
            (
                "A=1 cmd",
                "\"A=1\" would set a variable in a shell (use environment, or say shell: true)"
            ),
            (
                "a\nb",
                "an unquoted line break needs a shell, and the command is not run by one "
                    + "(quote it, or say shell: true)"
            ),
            ("a ${NOPE}", "the variable NOPE is not set (set it, or write ${NOPE:-default})"),
        ])
    func refused(_ text: String, _ reason: String) { #expect(failure(text) == reason) }

    private func failure(_ text: String) -> String? {
        do throws(ValueError) { _ = try split(text) } catch { return error.description }
        return nil
    }

    @Test("a shell gets the text untouched, and a list goes untouched without one")
    func shell() throws {
        let project = try load(
            """
            defaults: {shell: true}
            services:
              a: {command: "echo $$ ${X} | cat"}
              b: {command: [echo, $HOME, "*"]}
              c: {shell: [bash, -euc], command: "exit 1"}
              d: {shell: false, command: "echo 'a b'"}
            """)
        let commands = project.services.map { $0.launch.command.map(\.literalText) }
        #expect(commands[0] == ["/bin/sh", "-c", "echo $$ ${X} | cat"])
        #expect(commands[1] == ["echo", "$HOME", "*"])
        #expect(commands[2] == ["bash", "-euc", "exit 1"])
        #expect(commands[3] == ["echo", "a b"])
    }
}
