import Testing

/// What the compiler refuses in a client of the library, each program with its corrected twin.
@Suite("What does not compile", .timeLimit(.minutes(5)))
struct RefusedTests {
    static let folders = [
        "Scope", "Supervisor", "Semaphore", "Breaker", "Retry", "Concurrency", "Graph", "Machine",
        "Deadline",
    ]

    @Test("SCO-10: a scope leaves its body", arguments: try RefusedProgram.all(in: "Scope"))
    func scope(_ program: RefusedProgram) throws { try expectRefused(program) }

    @Test(
        "SUP-12: a supervisor leaves its body", arguments: try RefusedProgram.all(in: "Supervisor"))
    func supervisor(_ program: RefusedProgram) throws { try expectRefused(program) }

    @Test(
        "SEM-9: a permit is used twice, kept or lost; a line has no bound",
        arguments: try RefusedProgram.all(in: "Semaphore"))
    func semaphore(_ program: RefusedProgram) throws { try expectRefused(program) }

    @Test("BRK-11: a call ends twice", arguments: try RefusedProgram.all(in: "Breaker"))
    func breaker(_ program: RefusedProgram) throws { try expectRefused(program) }

    @Test("RET-20: a retry has no end", arguments: try RefusedProgram.all(in: "Retry"))
    func retry(_ program: RefusedProgram) throws { try expectRefused(program) }

    @Test(
        "CON-15: operations run beside each other without a limit, or share what is not Sendable",
        arguments: try RefusedProgram.all(in: "Concurrency"))
    func concurrency(_ program: RefusedProgram) throws { try expectRefused(program) }

    @Test(
        "GRA-20: a service is not Sendable, of another type, or read before anything runs",
        arguments: try RefusedProgram.all(in: "Graph"))
    func graph(_ program: RefusedProgram) throws { try expectRefused(program) }

    @Test(
        "FSM-12: a state is entered, or sent, from outside",
        arguments: try RefusedProgram.all(in: "Machine"))
    func machine(_ program: RefusedProgram) throws { try expectRefused(program) }

    @Test(
        "DL-21: a caller's error type leaves no room for a refusal",
        arguments: try RefusedProgram.all(in: "Deadline"))
    func deadline(_ program: RefusedProgram) throws { try expectRefused(program) }

    @Test("corrected, all of them compile")
    func corrected() throws {
        let paths = try Self.folders.flatMap { try RefusedProgram.all(in: $0).map(\.path) }
        let result = try RefusedProgram.compile(paths, corrected: true)
        #expect(result.code == 0, "\(result.output)")
    }

    @Test("every folder has its test")
    func foldersHaveTests() throws {
        #expect(try Checkout.list(RefusedProgram.folder) == Self.folders.sorted())
    }

    private func expectRefused(_ program: RefusedProgram) throws {
        let result = try program.compile(corrected: false)
        #expect(result.code != 0, "the compiler accepts \(program.path)")
        guard let error = program.error else { return }
        #expect(result.output.contains(error), "\(program.path): \(result.output)")
    }
}
