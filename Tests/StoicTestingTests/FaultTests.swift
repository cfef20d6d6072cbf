import Stoic
import StoicTesting
import Testing

@Suite("fault points", .timeLimit(.minutes(2)))
struct FaultTests {
    struct NoSpace: Error, Equatable { var number = 0 }
    struct Other: Error {}

    private func save() throws { try Fault.point("file.rename") }

    private func failures(of calls: Int) -> [Int] {
        (1...calls).filter { _ in
            do { try save() } catch { return true }
            return false
        }
    }

    @Test("TST-16: the N-th call fails, all from it on, or every one; and every call is counted")
    func calls() async throws {
        #expect(failures(of: 3) == [])
        for (calls, expected) in [
            (ArmedFault.Calls.only(2), [2]), (.from(2), [2, 3]), (.always, [1, 2, 3]),
        ] {
            let reached = try await withFaults(.init("file.rename", calls, throwing: NoSpace())) {
                #expect(failures(of: 3) == expected)
                try Fault.point("file.sync")
            }
            #expect(reached == ["file.rename": 3, "file.sync": 1])
        }
        #expect(failures(of: 3) == [])
    }

    @Test("TST-16: a test's faults reach the tasks it starts, and no other test")
    func scope() async throws {
        try await withFaults(.init("file.rename", throwing: NoSpace())) {
            await withTaskGroup { group in
                group.addTask { #expect(failures(of: 1) == [1]) }
            }
            // A second plan inside has its own rules; those around go on.
            try await withFaults(.init("file.rename", .only(1), throwing: NoSpace(number: 1))) {
                #expect(throws: NoSpace(number: 1)) { try save() }
                #expect(throws: NoSpace(number: 0)) { try save() }
            }
            let other = Task.immediate { try save() }
            await #expect(throws: NoSpace.self) { try await other.value }
        }
        try save()
    }

    private func typed() throws(NoSpace) { try Fault.point("file.sync", throwing: NoSpace.self) }

    @Test("TST-17: code with one type of error can have faults of that type, and of no other")
    func oneType() async throws {
        try typed()
        try await withFaults(.init("file.sync", throwing: NoSpace())) {
            #expect(throws: NoSpace.self) { try typed() }
        }
        await #expect(processExitsWith: .failure) {
            try await withFaults(.init("file.sync", throwing: Other())) {
                try Fault.point("file.sync", throwing: NoSpace.self)
            }
        }
    }
}
