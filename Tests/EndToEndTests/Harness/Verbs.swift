import Glibc
import Testing

extension Bench {
    /// Writes the config. `settings` are lines at its top.
    func config(_ settings: String..., services: [Service], as name: String = "orchestrator.yaml")
        throws
    {
        let body = services.map { $0.yaml(puppet: identity.puppet) }
        let text = (settings + ["services:"] + body).joined(separator: "\n") + "\n"
        try write(text, to: name)
    }

    /// Writes a file into the project's directory, whole and by a rename.
    func write(_ text: String, to name: String, mode: mode_t = 0o666) throws {
        try TextFile.write(text, to: path(name) + ".new", mode: mode)
        try Scratch.give(path(name) + ".new", to: identity)
        guard unsafe rename(path(name) + ".new", path(name)) == 0 else {
            throw BenchError("cannot rename \(name): error \(errno)")
        }
    }

    /// The text of a file of the project; empty if there is none.
    func read(_ name: String) -> String { TextFile.read(path(name)) ?? "" }

    /// The command line of a verb.
    func arguments(_ verb: [String]) -> [String] { [identity.orchestrator] + verb }

    /// Starts `up` in the foreground.
    func up(_ words: String..., prepare: (inout Launch) -> Void = { _ in }) throws -> Program {
        var launch = Launch(arguments(["up"] + words))
        prepare(&launch)
        return try start(launch)
    }

    /// Runs a verb to its end.
    @discardableResult  // many verbs are run for what they do
    func run(_ verb: String..., within limit: Duration = .seconds(15)) async throws -> Program {
        let program = try start(Launch(arguments(verb)))
        try await end(of: program, within: limit)
        return program
    }

    /// Runs a verb to its end and expects success.
    @discardableResult  // as above
    func must(_ verb: String..., within limit: Duration = .seconds(15)) async throws -> Program {
        let program = try start(Launch(arguments(verb)))
        let ending = try await end(of: program, within: limit)
        #expect(ending == .exited(0), "\(program.name)\n\(program.output)\(program.errors)")
        return program
    }

    /// Runs a verb until its output satisfies `condition`: for what only shows in `status`.
    func poll(
        _ verb: String..., within limit: Duration = .seconds(10),
        until condition: (String) -> Bool
    ) async throws {
        let deadline = Moment.now + limit
        while true {
            let program = try start(Launch(arguments(verb)))
            try await end(of: program, within: limit)
            if condition(program.output) { return }
            guard Moment.now < deadline else {
                throw BenchError("\(program.name) never showed it\n\(program.output)\n\(story)")
            }
            await watch(for: .milliseconds(50))
        }
    }

    /// Waits for a program's end.
    @discardableResult  // the caller may look at the program itself
    func end(of program: Program, within limit: Duration = .seconds(15)) async throws -> Ending {
        try await wait("\(program.name) to end", within: limit) { _ in
            program.ending != nil
        }
        return try #require(program.ending)
    }

    /// Waits until `program` printed `text`.
    func printed(
        _ text: String, by program: Program, within limit: Duration = .seconds(10)
    ) async throws {
        try await wait("\(program.name) to print \(text)", within: limit) { _ in
            program.output.contains(text) || program.errors.contains(text)
        }
    }

    /// Waits until the engine answers, or `candidate`, which would be it, has ended.
    func answers(
        orEnded candidate: Program? = nil, within limit: Duration = .seconds(10)
    ) async throws {
        let deadline = Moment.now + limit
        while true {
            let program = try start(Launch(arguments(["status"])))
            if try await end(of: program, within: limit) == .exited(0) { return }
            if candidate?.ending != nil { return }
            guard Moment.now < deadline else { throw BenchError("no answer\n\(story)") }
            await watch(for: .milliseconds(30))
        }
    }

    /// The decisions so far, one line each.
    func decisions() async throws -> [String] {
        let program = try await run("events", "--json")
        return program.output.split(separator: "\n").map(String.init)
    }
}
