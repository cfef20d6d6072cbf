// why: a task may outlive the supervisor, and children added then would have no owner.
// error: 'supervisor' cannot be captured by an escaping closure since it is a borrowed parameter
import Stoic

func supervisorInTask() async throws {
    try await withSupervisor("workers") { (supervisor: borrowing Supervisor) in
        #if CORRECTED
            try supervisor.add(ChildSpec("one") {})
        #else
            Task { try supervisor.add(ChildSpec("one") {}) }
        #endif
    }
}
