import Testing

@Suite("Launches", .serialized, .timeLimit(.minutes(1)))
struct LaunchTests {
    @Test(
        "PRC-1, PRC-2: stray descriptors and odd signals reach no child",
        arguments: Warden.Kernel.here)
    func inheritsNothing(_ kernel: Warden.Kernel) async {
        await expectHolds("inherits-nothing", kernel)
    }

    @Test(
        "PRC-3: started with 0, 1 or 2 closed", arguments: [[0], [1], [2], [0, 1, 2]] as [[CInt]])
    func closedStdio(_ closed: [CInt]) async { await expectHolds("closed-stdio", closing: closed) }

    @Test(
        "PRC-4: each failure says what failed", arguments: [.full, .copiedTable] as [Warden.Kernel])
    func failures(_ kernel: Warden.Kernel) async { await expectHolds("failures", kernel) }

    @Test("PRC-5: 200 failed launches leave nothing", arguments: Warden.Kernel.here)
    func failuresLeaveNothing(_ kernel: Warden.Kernel) async {
        await expectHolds("failures-leave-nothing", kernel)
    }

    @Test(
        "PRC-6: descriptors that cross, and more than are reserved", arguments: Warden.Kernel.here)
    func descriptors(_ kernel: Warden.Kernel) async { await expectHolds("descriptors", kernel) }

    @Test(
        "PRC-7: directory, mask, limits, pid, and /dev/stdout opened anew",
        arguments: Warden.Kernel.here)
    func attributes(_ kernel: Warden.Kernel) async { await expectHolds("attributes", kernel) }

    @Test("PRC-8: another user, with groups, who can open /dev/stdout")
    func user() async { await expectHolds("user") }

    @Test("PRC-9: a spawner closed with launches under way leaves no process")
    func retired() async { await expectHolds("death-of-launcher") }

    @Test("PRC-10: a launch costs the same with 10,000 descriptors open")
    func cost() async {
        let result = await Warden.run("cost", .full)
        complain(result.output)
        #expect(result.code == 0, "\(result.output)")
    }

    @Test("PRC-11: hardly any descriptors")
    func scarce() async { await expectHolds("scarce") }

    @Test("PRC-12: a service that is to die with the engine")
    func die() async {
        let result = await Warden.run("die", .full)
        // The end of the output says that the child is gone too.
        #expect(result.code == -9, "\(result.output)")
    }

    @Test("PRC-13: a kernel that lacks something", arguments: Warden.Kernel.here)
    func features(_ kernel: Warden.Kernel) async { await expectHolds("features", kernel) }
}
