import Testing

@testable import Orchestrator

@Suite("Mishaps", .serialized, .timeLimit(.minutes(1)))
struct MishapTests {
    @Test("PRC-14: an exec that hangs is called off", arguments: Warden.Kernel.here)
    func hungExec(_ kernel: Warden.Kernel) async { await expectHolds("hung-exec", kernel) }

    @Test(
        "PRC-15: a process that cannot be watched leaves no zombie", arguments: Warden.Kernel.here)
    func unwatchable(_ kernel: Warden.Kernel) async { await expectHolds("unwatchable", kernel) }

    @Test("PRC-34: each member hears a stop's signal once", arguments: Warden.Kernel.here)
    func hearsOnce(_ kernel: Warden.Kernel) async { await expectHolds("hears-once", kernel) }

    @Test(
        "PRC-35: the number of a former main process is used again", arguments: [Warden.Kernel.full]
    )
    func recycledMain(_ kernel: Warden.Kernel) async { await expectHolds("recycled-main", kernel) }

    @Test("PRC-34: who was there before a signal has heard it")
    func reach() {
        var reach = SignalReach()
        #expect(!reach.includes(startTime: 5, isInGroup: true))
        reach.group = 10
        #expect(reach.includes(startTime: 9, isInGroup: true))
        #expect(!reach.includes(startTime: 9, isInGroup: false))
        // In the same tick nobody can tell: twice is better than never.
        #expect(!reach.includes(startTime: 10, isInGroup: true))
        reach.tree = 20
        #expect(reach.includes(startTime: 19, isInGroup: false))
        #expect(!reach.includes(startTime: 20, isInGroup: true))
    }
}
