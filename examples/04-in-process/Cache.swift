import Stoic

/// A cache over the database. The app has two of them.
struct Cache: Sendable {
    let name: String
    private let database: Database
    private let faults: Faults

    static func warmUp(
        _ name: String, from database: Database, _ faults: Faults
    ) async throws -> Cache {
        try await faults.start("cache")
        say("\(name): warm")
        return Cache(name: name, database: database, faults: faults)
    }

    /// Writes what it holds to the database, which is still there: what needs a service stops
    /// before it does.
    func flush() async {
        await faults.stop("cache")
        await database.store("what the \(name) held")
        say("\(name): flushed")
    }
}
