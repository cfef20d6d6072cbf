import StoicTesting
import Synchronization
import Testing

@testable import Stoic

/// A count that tasks share.
private final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .relaxed) }

    @discardableResult
    func add(_ change: Int) -> (oldValue: Int, newValue: Int) {
        count.add(change, ordering: .relaxed)
    }
}

/// The one suite of deadlines on real threads: nothing here depends on how long anything takes.
@Suite("Deadlines on real threads", .timeLimit(.minutes(5)))
struct DeadlineStressTests {
    @Test("timers, callers and ends race: one cause each, the outcome is that of the cause")
    func races() async {
        await withAmbient {
            $0.instrumentation = SilentInstrumentation()
        } operation: {
            await withTaskGroup { group in
                for seed: UInt64 in 0..<8 {
                    group.addTask { await Self.race(seed) }
                }
            }
        }
    }

    private static func race(_ seed: UInt64) async {
        var random = RandomSource.seeded(seed)
        for round in 0..<100 {
            let limit = Duration.microseconds(Int.random(in: 1...300, using: &random))
            let work = Duration.microseconds(Int.random(in: 1...300, using: &random))
            let isStubborn = Bool.random(using: &random)
            let cause = Mutex<CancellationCause?>(nil)
            let call = spawn {
                await outcome {
                    try await withTimeout(limit) {
                        defer { cause.withLock { $0 = Cancellation.cause } }
                        if isStubborn {
                            await workStubbornly(work)
                        } else {
                            try await workPolitely(work)
                        }
                        return 7
                    }
                }
            }
            if Bool.random(using: &random) {
                for _ in 0..<Int.random(in: 0...5, using: &random) { await Task.yield() }
                call.cancel()
            }
            let result = await call.value
            let isRight =
                switch result {
                case .value(7): true
                case .exceeded: cause.withLock { $0 } == .deadlineExpired
                case .cancelled: cause.withLock { $0 } == .requested
                case .value, .rejected, .failed, .other: false
                }
            #expect(isRight, "seed \(seed), round \(round): \(result)")
        }
    }

    @Test("slots on real threads: never two at work")
    func slots() async {
        // Longer than any machine is busy: work that is left behind would be beside newer work.
        let slot = WorkSlot<Int>("slot", endingWithin: .seconds(200))
        let atWork = Counter()
        await withAmbient {
            $0.instrumentation = SilentInstrumentation()
        } operation: {
            await withTaskGroup { group in
                for seed: UInt64 in 0..<8 {
                    group.addTask {
                        var random = RandomSource.seeded(seed)
                        for _ in 0..<100 {
                            let policies: [WorkSlot<Int>.Policy] = [.replace, .keep, .join]
                            let policy = policies[Int.random(in: 0..<3, using: &random)]
                            let result = await outcome {
                                try await slot.run(policy) {
                                    let before = atWork.add(1).oldValue
                                    for _ in 0..<3 { await Task.yield() }
                                    atWork.add(-1)
                                    return before
                                }
                            }
                            let isAlone =
                                switch result {
                                case .value(let others): others == 0
                                case .cancelled, .rejected(.bulkheadFull): true
                                case .rejected, .failed, .exceeded, .other: false
                                }
                            #expect(isAlone, "seed \(seed): \(result)")
                        }
                    }
                }
            }
            await slot.close()
        }
        #expect(atWork.value == 0)
        #expect(!slot.isTaken)
    }
}
