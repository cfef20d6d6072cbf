import Manifest
import Stoic
import Testing

@Suite("Environment files", .timeLimit(.minutes(1)))
struct EnvironmentFileTests {
    @Test("lines are read by the documented rule, byte for byte")
    func rule() throws {
        let text = #"""
            # a comment
              # and another

            A=x
            export B=y
            C=$A ${A} $$
            D=p@ss#word # not a comment
            F=two words
            G=
            H=k=v=w
            I="quoted # \"inner\" \\ \$ \n\tend \q"
            J='single " \n $X'
            K= trimmed 	
            L=it's "fine" inside
            M="two
            lines" 
            N=''
            A=again
            _o1=last
            """#
        let variables = try read(text + "\r\nP=windows\r\n")
        let expected: [(String, String)] = [
            ("A", "x"), ("B", "y"), ("C", "$A ${A} $$"), ("D", "p@ss#word # not a comment"),
            ("F", "two words"), ("G", ""), ("H", "k=v=w"),
            ("I", "quoted # \"inner\" \\ $ \n\tend \\q"), ("J", #"single " \n $X"#),
            ("K", "trimmed"), ("L", "it's \"fine\" inside"), ("M", "two\nlines"), ("N", ""),
            ("A", "again"), ("_o1", "last"), ("P", "windows"),
        ]
        #expect(variables.map(\.name) == expected.map(\.0))
        #expect(variables.map(\.value) == expected.map(\.1))
    }

    @Test(
        "CFG-16: a malformed line is refused with its place",
        arguments: [
            (
                "A=1\nnonsense\n",
                "2:1: there is no = in \"nonsense\" (write NAME=VALUE, or # in front of a "
                    + "comment)"
            ),
            (
                "export\n",
                "1:1: there is no = in \"export\" (write NAME=VALUE, or # in front of a "
                    + "comment)"
            ),
            (
                "1A=x",
                "1:1: \"1A\" is not the name of a variable (letters, digits and _, not a "
                    + "digit first, no space before =)"
            ),
            (
                "A =x",
                "1:1: \"A \" is not the name of a variable (letters, digits and _, not a "
                    + "digit first, no space before =)"
            ),
            (
                "=x",
                "1:1: \"\" is not the name of a variable (letters, digits and _, not a digit "
                    + "first, no space before =)"
            ),
            (
                "\n A=\"x\" y",
                "2:8: text follows the closing quote (quote the whole value, or do not begin "
                    + "it with a quote)"
            ),
            ("A='x\ny", "1:3: the quote that opens here is never closed"),
            ("A=\u{0}", "1:3: the file contains a NUL byte"),
            (
                "\u{FEFF}A=1",
                "1:1: the file begins with a byte order mark (save it as UTF-8 without a "
                    + "byte order mark)"
            ),
        ])
    func malformed(_ text: String, _ expected: String) throws {
        try withDirectory { directory in
            let path = "\(directory)/env"
            try write(text, to: path)
            #expect(failure(path) == "\(path):\(expected)")
        }
    }

    @Test("CFG-16: all lines that are wrong are reported, the missing file and the long one too")
    func several() throws {
        try withDirectory { directory in
            let path = "\(directory)/env"
            #expect(failure(path) == "cannot read \(path): there is no such file or directory")
            try write("a\nB=1\nc\n", to: path)
            #expect(failure(path)?.split(separator: "\n").count == 2)
            try write(String(repeating: "# long\n", count: 200_000), to: path)
            #expect(failure(path) == "cannot read \(path): it is longer than 1MiB")
            #expect(failure(directory) == "cannot read \(directory): it is a directory, not a file")
            try write(String(repeating: "x\n", count: 500), to: path)
            #expect(failure(path)?.split(separator: "\n").count == ConfigError.mostDiagnostics)
        }
    }

    @Test("CFG-16: a config reports what is wrong with its environment files")
    func fromConfig() throws {
        try withDirectory { directory in
            try write("A=1\n", to: "\(directory)/good.env")
            try write("oops\n", to: "\(directory)/bad.env")
            let text = """
                services:
                  a: {command: [x], environmentFile: good.env, environment: {B: "2"}}
                  b: {command: [x], environmentFile: [bad.env, {path: none, required: false}]}
                  c: {command: [x], environmentFile: [good.env, missing.env]}
                """
            let file = "\(directory)/o.yaml"
            let found = problems(text, file: file).split(separator: "\n")
            #expect(found.count == 2)
            #expect(found.contains { $0.contains("bad.env:1:1: there is no = in \"oops\"") })
            #expect(
                found.contains {
                    $0.contains("o.yaml:4:49: services.c.environmentFile[1]: cannot read")
                })
            let good = try load(
                "services: {a: {command: [x], environmentFile: good.env, environment: [B=2]}}",
                file: file)
            #expect(
                try good.service("a").launch.environment == [
                    .inheritAll, .file("\(directory)/good.env", isRequired: true),
                    .set("B", Template(literal: "2")),
                ])
        }
    }

    private func read(_ text: String) throws -> [(name: String, value: String)] {
        try withDirectory { directory in
            try write(text, to: "\(directory)/env")
            return try readEnvironmentFile("\(directory)/env")
        }
    }

    private func failure(_ path: String) -> String? {
        do throws(EnvironmentFileError) { _ = try readEnvironmentFile(path) } catch {
            return error.description
        }
        return nil
    }
}
