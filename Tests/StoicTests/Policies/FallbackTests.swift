import StoicTesting
import Testing

@testable import Stoic

@Suite("Fallback", .timeLimit(.minutes(5)))
struct FallbackTests {
    @Test("FBK-1: an operation that succeeds needs none")
    func succeeds() async throws {
        try await simulate { world in
            let fallback = Fallback { _ in 0 }
            let value = try await fallback.run(Dependency().succeed)
            #expect(value == 1)
            #expect(world.events.names.isEmpty)
        }
    }

    @Test("FBK-2: it stands in for a failure and for a refusal, and says so")
    func standsIn() async throws {
        try await simulate { world in
            let fallback = Fallback { error in error is Ill ? 10 : 20 }
            let db = Dependency()
            var values = [try await fallback.run(db.fail)]
            let breaker = PipelineTests.touchy()
            values.append(try await fallback.run { try await breaker.run(db.fail) })
            values.append(try await fallback.run { try await breaker.run(db.fail) })
            #expect(values == [10, 10, 20])
            #expect(
                world.events.names == [
                    "fallback.used", "breaker.opened", "fallback.used", "breaker.rejected",
                    "fallback.used",
                ])
        }
    }

    @Test("FBK-3: never for a defect, also within a policy's error; it is reported")
    func defect() async throws {
        try await simulate { world in
            let fallback = Fallback { _ in 0 }
            await #expect(throws: PolicyError<Slip>.failed(Slip())) {
                try await fallback.run { () async throws(Slip) -> Int in throw Slip() }
            }
            await #expect(throws: PolicyError<any Error>.self) {
                try await fallback.run { try await Bulkhead(limit: 1).run { throw Slip() } }
            }
            #expect(world.events.names == ["fallback.refused", "fallback.refused"])
            #expect(world.events.events.allSatisfy { $0.level == .error })
        }
    }

    @Test("FBK-4: never for cancellation, also when the operation makes another error of it")
    func cancelled() async throws {
        try await simulate { world in
            let fallback = Fallback { _ in 0 }
            func word(_ operation: @escaping @Sendable () async throws -> Int) -> Task<
                String, Never
            > {
                spawn {
                    do { return "\(try await fallback.run(operation))" } catch { return "\(error)" }
                }
            }
            let tasks = [
                word {
                    try await hang(world)
                    return 1
                },
                word {
                    do { try await hang(world) } catch { throw Ill() }
                    return 1
                },
            ]
            try await settle(world)
            for task in tasks { task.cancel() }
            #expect(await tasks[0].value == "CancellationError()")
            #expect(await tasks[1].value == "\(PolicyError<any Error>.failed(Ill()))")
            #expect(world.events.names.isEmpty)
        }
    }

    @Test("FBK-5: a substitute that fails too: the operation's error, and the other is reported")
    func failsToo() async throws {
        try await simulate { world in
            let fallback = Fallback<Int> { _ in throw BadRequest() }
            await #expect(throws: PolicyError<Ill>.failed(Ill())) {
                try await fallback.run(Dependency().fail)
            }
            #expect(world.events.names == ["fallback.failed"])
            let cancelled = Fallback<Int> { _ in throw CancellationError() }
            await #expect(throws: CancellationError.self) {
                try await cancelled.run(Dependency().fail)
            }
            #expect(world.events.names == ["fallback.failed"])
        }
    }

    @Test("FBK-6: it stands in only for what it is for")
    func notFor() async throws {
        try await simulate { world in
            let fallback = Fallback(when: { $0 is BadRequest }) { _ in 0 }
            await #expect(throws: PolicyError<Ill>.failed(Ill())) {
                try await fallback.run(Dependency().fail)
            }
            #expect(world.events.names.isEmpty)
        }
    }
}
