import Stoic

/// Misbehaviour on request: what real services do when one is on call.
struct Faults: Sendable {
    /// The kind of service whose start fails.
    var failing: String?
    /// The kind of service whose stop hangs.
    var hanging: String?

    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    /// A start that takes a moment, and may fail.
    func start(_ kind: String) async throws {
        try await Ambient.current.clock.sleep(for: .milliseconds(50))
        if failing == kind { throw Refused(description: "the \(kind) server says no") }
    }

    /// A stop that may hang as real ones do: the task it waits for has nobody who passes the
    /// cancellation on.
    func stop(_ kind: String) async {
        guard hanging == kind else { return }
        say("\(kind): waits for something that never comes")
        await Task {
            do { try await Ambient.current.clock.sleep(for: .seconds(3_600)) } catch {
                say("\(kind): cancelled")  // nobody does
            }
        }.value
    }
}
