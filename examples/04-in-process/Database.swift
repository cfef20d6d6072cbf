import Stoic

/// A client of an imaginary database.
actor Database {
    private var rows: [String] = []
    private let faults: Faults

    private init(_ faults: Faults) { self.faults = faults }

    /// Connects. The first two attempts fail: a database that has just been started refuses its
    /// first callers, and a client that gives up at once turns that into an outage.
    static func open(_ faults: Faults) async throws -> Database {
        try await retry(.exponential(base: .milliseconds(20)), attempts: 4) { attempt in
            try await faults.start("database")
            guard attempt.number > 2 else { throw NotListening() }
        }
        say("database: open")
        return Database(faults)
    }

    func store(_ row: String) { rows.append(row) }

    func close(_ exit: Exit) async {
        await faults.stop("database")
        say("database: closed with \(rows.count) rows, \(words(exit))")
    }

    struct NotListening: Error {}
}
