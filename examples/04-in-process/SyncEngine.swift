import Stoic
import Synchronization

/// Keeps a user's data in step with an imaginary server, for as long as the user is signed in.
final class SyncEngine: Sendable {
    private let user: String
    private let faults: Faults
    private let uploads = Atomic<Int>(0)

    private init(_ user: String, _ faults: Faults) {
        self.user = user
        self.faults = faults
    }

    static func connect(_ account: Account, _ faults: Faults) async throws -> SyncEngine {
        try await faults.start("sync")
        say("sync: connected for \(account.user)")
        return SyncEngine(account.user, faults)
    }

    /// The work of the service: two loops under a supervisor. One that fails is started again, with
    /// growing delays; one that fails too often ends the supervisor, and with it the graph.
    func run() async throws {
        try await withSupervisor("sync loops") { (supervisor: borrowing Supervisor) in
            try supervisor.add(ChildSpec("downloads") { await Cancellation.wait() })
            try supervisor.add(ChildSpec("uploads") { [self] in try await upload() })
            await supervisor.waitForEnd()
        }
    }

    /// Loses its connection once.
    private func upload() async throws {
        let run = uploads.add(1, ordering: .relaxed).newValue
        guard run > 1 else { throw ConnectionLost() }
        say("sync: uploads for \(user), run \(run)")
        await Cancellation.wait()
    }

    func disconnect() async {
        await faults.stop("sync")
        say("sync: disconnected for \(user)")
    }

    struct ConnectionLost: Error {}
}
