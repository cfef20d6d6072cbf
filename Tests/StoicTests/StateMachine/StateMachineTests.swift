import StoicTesting
import Synchronization
import Testing

@testable import Stoic

@Suite("StateMachine", .timeLimit(.minutes(20)))
struct StateMachineTests {
    @Test("FSM-1: a forbidden event is a defect and changes nothing; an ignored one is no news")
    func forbidden() async throws {
        try await simulate { world in
            let machine = LinkMachine(try .link())
            let end = run(machine)
            for event: Signal in [.connected, .lost, .connect, .close] { try machine.send(event) }
            #expect(await end.value == "closed")
            let expected = [
                "+down", "state.forbidden", "state.ignored", "-down", "+connecting",
                "-connecting", "+closed",
            ]
            #expect(world.story == expected)
            let levels = world.events.events.filter { $0.name == .stateForbidden }.map(\.level)
            #expect(levels == [.error])
            #expect(try !machine.send(.connect), "it has ended")
        }
    }

    @Test("FSM-2: work that ignores its cancellation is left behind after leaveTimeout")
    func stubborn() async throws {
        try await simulate { world in
            let next = Completion<Duration>()
            let machine = LinkMachine(
                try .link([
                    .work(in: .connecting, failed: .lost, leaveTimeout: .seconds(2)) { _ in
                        await shielded {
                            do { try await world.clock.sleep(for: .seconds(60)) } catch {}
                        }
                        return .connected
                    },
                    .work(in: .up, failed: .lost) { _ in
                        next.fulfil(world.clock.now.sinceOrigin)
                        return nil
                    },
                ]))
            let end = run(machine)
            try machine.send(.connect)
            try machine.send(.connected)
            #expect(await next.wait() == .seconds(2))
            try await world.clock.sleep(for: .seconds(60))
            #expect(machine.state == .up, "what it returned too late is void")
            try machine.send(.close)
            #expect(await end.value == "closed")
            let expected = [
                "+down", "-down", "+connecting", "deadline.abandoned", "state.workAbandoned",
                "-connecting", "+up", "deadline.abandonedReturned", "state.stale", "-up",
                "+closed",
            ]
            #expect(Set(world.story) == Set(expected))
            #expect(world.story.filter { $0.first == "+" } == expected.filter { $0.first == "+" })
        }
    }

    @Test("FSM-3: events that come during a transition are answered after it, in their order")
    func queued() async throws {
        try await explore(seeds: 67, under: SimulatedOrder.punctual) { world in
            let machine = LinkMachine(
                try .link([
                    .work(in: .connecting, failed: .lost) { _ in
                        do { try await hang(world) } catch {}
                        // The state is being left: this takes a second.
                        await shielded {
                            do { try await world.clock.sleep(for: .seconds(1)) } catch {}
                        }
                        return nil
                    }
                ]))
            let end = run(machine)
            try machine.send(.connect)
            try await machine.wait(for: .connecting)
            try machine.send(.connected)
            try await world.clock.sleep(for: .milliseconds(500))
            #expect(machine.state == .connecting)
            for event: Signal in [.lost, .connect, .close] { try machine.send(event) }
            #expect(await end.value == "closed")
            let expected = [
                "+down", "-down", "+connecting", "-connecting", "+up", "-up", "+down",
                "-down", "+connecting", "-connecting", "+closed",
            ]
            #expect(world.story == expected)
        }
    }

    @Test("FSM-4: a timeout and an event at once: one moves, the other belongs to the past")
    func timeout() async throws {
        let seen = Mutex<Set<[String]>>([])
        try await explore(seeds: 51) { world in
            let machine = LinkMachine(
                try .link([.timeout(after: .seconds(3), in: [.connecting], send: .lost)]))
            let end = run(machine)
            try machine.send(.connect)
            try await machine.wait(for: .connecting)
            let sender = spawn {
                do {
                    try await world.clock.sleep(for: .seconds(3))
                    try machine.send(.connected)
                } catch { Issue.record("\(error)") }
            }
            await sender.value
            try await world.clock.sleep(for: .seconds(30))
            let wasUp = machine.state == .up
            try machine.send(.close)
            #expect(await end.value == "closed")
            #expect(world.clock.sleeperCount == 0)
            #expect(
                world.story.contains("+up") == wasUp || !world.isPunctual,
                "a stale timeout moves nothing")
            seen.withLock { _ = $0.insert(world.story) }
        }
        let ends = seen.withLock { $0 }
        let common = ["+down", "-down", "+connecting", "-connecting"]
        #expect(ends.contains(common + ["+up", "-up", "+closed"]))
        #expect(ends.contains(common + ["+down", "state.forbidden", "-down", "+closed"]))
        #expect(ends.contains { $0.contains("state.stale") && $0.contains("+up") })
    }

    @Test("FSM-8: the 65th event that waits is refused as a defect")
    func overflow() async throws {
        try await simulate { world in
            let machine = LinkMachine(try .link())
            for _ in 0..<64 { try machine.send(.lost) }
            #expect(throws: EventQueueFull(label: "link")) { try machine.send(.lost) }
            #expect(world.events.names == ["state.overflowed"])
            let end = run(machine)
            try await settle(world)
            try machine.send(.close)
            #expect(await end.value == "closed")
            #expect(world.events.names.filter { $0 == "state.ignored" }.count == 64)
        }
    }

    @Test("FSM-9: work that throws sends the event for that; what work returns is an event too")
    func outcomes() async throws {
        try await simulate { world in
            let tries = Mutex(0)
            let machine = LinkMachine(
                try .link([
                    .work(in: .connecting, failed: .lost) { _ in
                        let number = tries.withLock { tries in
                            tries += 1
                            return tries
                        }
                        switch number {
                        case 1: throw Ill()
                        case 2: throw Slip()
                        default: return .connected
                        }
                    },
                    .work(in: .down, failed: .close) { _ in .connect },
                ]))
            let end = run(machine)
            try await machine.wait(for: .up)
            try machine.send(.close)
            #expect(await end.value == "closed")
            let once = ["+down", "-down", "+connecting", "state.workFailed", "-connecting"]
            let expected =
                once + once + ["+down", "-down", "+connecting", "-connecting", "+up", "-up"]
            #expect(world.story == expected + ["+closed"])
            let levels = world.events.events.filter { $0.name == .stateWorkFailed }.map(\.level)
            #expect(levels == [.notice, .error], "the second is a defect")
        }
    }

    @Test("FSM-10: a cancelled run ends its work, enters nothing more, and wakes who waits")
    func cancelled() async throws {
        try await explore(seeds: 67, under: SimulatedOrder.punctual) { world in
            let cause = Completion<CancellationCause?>()
            let machine = LinkMachine(
                try .link([
                    .work(in: .connecting, failed: .lost) { _ in
                        do { try await hang(world) } catch {}
                        cause.fulfil(Cancellation.cause)
                        return .connected
                    },
                    .timeout(after: .seconds(9), in: [.connecting], send: .lost),
                ]))
            let end = run(machine)
            try machine.send(.connect)
            try await machine.wait(for: .connecting)
            let waiter = spawn { () -> Bool in
                do {
                    try await machine.wait(for: .up)
                    return false
                } catch { return error is StateMachineEnded }
            }
            try await settle(world)
            end.cancel()
            #expect(await end.value == "CancellationError()")
            #expect(await waiter.value)
            #expect(cause.value == .scopeClosed)
            #expect(world.story == ["+down", "-down", "+connecting", "-connecting"])
            try await settle(world)
            #expect(world.clock.sleeperCount == 0)
        }
    }

    @Test("FSM-11: an effect runs between the old state's work and the new state's")
    func effect() async throws {
        try await simulate { world in
            let notes = Notes()
            let table = try TransitionTable<Link, Signal>(
                initial: .down, final: [.closed, .up, .connecting],
                [
                    .move(from: [.down], on: [.connect], to: .down) { notes.add("effect") },
                    .move(from: [.down], on: [.connected, .lost, .close], to: .closed),
                    .work(in: .down, failed: .lost) { _ in
                        notes.add("begin")
                        do { try await hang(world) } catch {}
                        notes.add("end")
                        return nil
                    },
                ])
            let machine = StateMachine(table)
            let end = run(machine)
            try await settle(world)
            try machine.send(.connect)
            try await settle(world)
            try machine.send(.close)
            #expect(await end.value == "closed")
            #expect(notes.lines == ["begin", "end", "effect", "begin", "end"])
            #expect(
                world.story.filter { $0 != "state.unreachable" } == [
                    "+down", "-down", "+down", "-down", "+closed",
                ])
        }
    }
}
