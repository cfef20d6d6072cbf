import Stoic

/// The services of one user, from sign-in to sign-out: a graph of its own, run inside the body of
/// the app's.
struct Session: Sendable {
    static let account = ServiceKey<Account>("account")
    static let sync = ServiceKey<SyncEngine>("sync")

    let graph: ServiceGraph
    private let user: String

    /// - Parameter app: The running services of the app; `nil` to look at the graph only.
    init(_ user: String, _ faults: Faults, over app: Services? = nil) throws(ServiceGraphError) {
        self.user = user
        graph = try ServiceGraph(label: "user \(user)") {
            Provide(Self.account) { _ in
                try await Account.signIn(user, in: app?[AppServices.database], faults)
            } stop: { account, exit in
                await account.signOut(exit)
            }
            Provide(
                Self.sync, needs: [Self.account.any],
                work: { sync in try await sync.run() },
                start: { services in try await SyncEngine.connect(services[Self.account], faults) },
                stop: { sync, _ in await sync.disconnect() })
        }
    }

    /// Starts the user's services, and stops them when the user signs out or the program ends.
    nonisolated(nonsending) func run() async throws {
        try await graph.run(exitBudget: .seconds(5), stopTimeout: .seconds(2)) { _ in
            say("\(user) is signed in")
            let cause = await Cancellation.wait()
            say("\(user) leaves: \(cause)")
        }
    }

    /// Stops the user's services, and nothing else.
    func signOut() { graph.requestStop() }
}

/// A user who is signed in.
struct Account: Sendable {
    let user: String
    private let faults: Faults

    static func signIn(
        _ user: String, in database: Database?, _ faults: Faults
    ) async throws -> Account {
        try await faults.start("account")
        await database?.store("session of \(user)")
        say("account: opened for \(user)")
        return Account(user: user, faults: faults)
    }

    func signOut(_ exit: Exit) async {
        await faults.stop("account")
        say("account: closed for \(user), \(words(exit))")
    }
}
