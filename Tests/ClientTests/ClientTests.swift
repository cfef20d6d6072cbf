import Testing

/// What a client of the library writes, built as a client builds it: without any of our settings.
/// That it compiles is most of the proof. `InterfaceTests` checks that nothing is left out.
@Suite("A client", .timeLimit(.minutes(2)))
struct ClientTests {
    @Test("calls everything from the main actor")
    @MainActor
    func mainActor() async throws {
        let client = MainActorClient()
        try await client.surroundings()
        try await client.deadlines()
        try await client.retries()
        try await client.policies()
        try await client.concurrency()
        try await client.owners()
        try await client.simulation()
        #expect(client.notes == 20)
    }

    @Test("calls everything from an actor")
    func actor() async throws {
        let client = ActorClient()
        try await client.surroundings()
        try await client.deadlines()
        try await client.retries()
        try await client.policies()
        try await client.concurrency()
        try await client.owners()
        try await client.simulation()
        #expect(await client.notes == 20)
    }

    @Test("calls everything from no actor")
    func free() async throws {
        let client = FreeClient()
        try await client.surroundings()
        try await client.deadlines()
        try await client.retries()
        try await client.policies()
        try await client.concurrency()
        try await client.owners()
        try await client.simulation()
        #expect(client.notes == 20)
    }
}
