import Glibc
import Manifest
import Testing

@Suite("The file of a config", .timeLimit(.minutes(1)))
struct FileTests {
    @Test("CFG-8: what cannot be read as a file is refused with its reason")
    func unreadable() throws {
        try withDirectory { directory in
            let missing = "\(directory)/o.yaml"
            #expect(
                failure(missing)
                    == "\(missing): cannot read the config: there is no such file or directory")
            #expect(
                failure(directory)
                    == "\(directory): cannot read the config: it is a directory, not a file")
            let pipe = "\(directory)/pipe.yaml"
            try unsafe #require(mkfifo(pipe, 0o600) == 0)
            #expect(failure(pipe)?.hasSuffix("it is a pipe or a device, not a file") == true)
            #expect(failure("/dev/null")?.hasSuffix("it is a pipe or a device, not a file") == true)
            // A file whose first read fails, for every user.
            #expect(failure("/proc/self/mem")?.hasSuffix("the device failed") == true)
            try write("services: {}", to: missing)
            #expect(
                failure("\(missing)/x")?.hasSuffix("a part of the path is not a directory") == true)
        }
    }

    @Test("CFG-10: a file of more than 16 MiB is refused unread")
    func tooLong() throws {
        try withDirectory { directory in
            let path = "\(directory)/o.yaml"
            try write("services: {}", to: path)
            try unsafe #require(truncate(path, (16 << 20) + 1) == 0)
            #expect(failure(path) == "\(path): cannot read the config: it is longer than 16MiB")
        }
    }

    @Test("CFG-7: no prefix of a config crashes, and those cut inside a line are refused")
    func halfWritten() {
        let whole = """
            services:
              db: {command: [postgres, -D, data], stopTimeout: 10s}
              web:
                command: "run it"
                needs: [db]

            """
        #expect(problems(whole).isEmpty)
        let bytes = Array(whole.utf8)
        for length in 0..<bytes.count {
            let found = problems(Array(bytes.prefix(length)))
            let cut = bytes.prefix(length).reversed().first { $0 != UInt8(ascii: " ") }
            // A cut after a line or a value may leave a smaller config: nobody can tell.
            let isWhole = cut.map { "\n}]\"".utf8.contains($0) } ?? false
            #expect(!found.isEmpty || isWhole, "\(length): \(found)")
        }
    }

    @Test("the nearest config is found, upwards, YAML first")
    func discovery() throws {
        try withDirectory { directory in
            let inner = "\(directory)/a"
            try unsafe #require(mkdir(inner, 0o700) == 0)
            try write("", to: "\(directory)/orchestrator.json")
            #expect(findProjectFile(from: inner) == "\(directory)/orchestrator.json")
            #expect(findProjectFile(from: inner + "/") == "\(directory)/orchestrator.json")
            #expect(findProjectFile(from: "\(inner)/gone/far") == "\(directory)/orchestrator.json")
            try write("", to: "\(directory)/orchestrator.yml")
            #expect(findProjectFile(from: directory) == "\(directory)/orchestrator.yml")
            try write("", to: "\(directory)/orchestrator.yaml")
            #expect(findProjectFile(from: inner) == "\(directory)/orchestrator.yaml")
            try write("", to: "\(inner)/orchestrator.json")
            #expect(findProjectFile(from: inner) == "\(inner)/orchestrator.json")
        }
    }

    @Test("a config is read from its file, paths start at its directory, links are not resolved")
    func reading() throws {
        try withDirectory { directory in
            try write("services: {a: {command: [x]}}\n", to: "\(directory)/real.yaml")
            let link = "\(directory)/./orchestrator.yaml"
            try unsafe #require(symlink("real.yaml", "\(directory)/orchestrator.yaml") == 0)
            let (project, warnings) = try loadProject(file: link, environment: [:])
            #expect(project.file == "\(directory)/orchestrator.yaml")
            #expect(project.directory == directory)
            #expect(warnings.isEmpty)
        }
    }

    private func failure(_ path: String) -> String? {
        do throws(ConfigError) { _ = try loadProject(file: path, environment: [:]) } catch {
            return error.description
        }
        return nil
    }
}
