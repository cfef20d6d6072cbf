import StoicTesting
import Synchronization
import Testing

@testable import Stoic

enum Room: Int, CaseIterable, Hashable, Sendable { case a, b, c, d, end }
enum Door: Int, CaseIterable, Hashable, Sendable { case p, q, r }

/// A random table, and what every state's work does.
struct RandomHouse: Sendable {
    enum Manner: Sendable, CaseIterable { case returns, fails, waits, lingers, ignores }

    var answers: [[TransitionTable<Room, Door>.Answer]] = []
    var manners: [Manner] = []

    init(seed: UInt64) {
        var random = RandomSource.seeded(seed)
        for _ in 0..<4 {
            answers.append(
                Door.allCases.map { _ in
                    switch Int.random(in: 0..<8, using: &random) {
                    case 0: .ignore
                    case 1: .forbid
                    case 2: .move(to: .end)
                    default: .move(to: Room.allCases[Int.random(in: 0..<4, using: &random)])
                    }
                })
            manners.append(Manner.allCases[Int.random(in: 0..<5, using: &random)])
        }
    }

    func answer(_ room: Room, _ door: Door) -> TransitionTable<Room, Door>.Answer {
        room == .end ? .ignore : answers[room.rawValue][door.rawValue]
    }

    func table(
        _ work: (Room, Manner) -> TransitionRow<Room, Door>?
    ) throws -> TransitionTable<Room, Door> {
        var rows: [TransitionRow<Room, Door>] = []
        for room in Room.allCases where room != .end {
            for door in Door.allCases {
                switch answer(room, door) {
                case .move(let target): rows.append(.move(from: [room], on: [door], to: target))
                case .ignore: rows.append(.ignore([door], in: [room]))
                case .forbid: rows.append(.forbid([door], in: [room]))
                }
            }
            if let row = work(room, manners[room.rawValue]) { rows.append(row) }
        }
        return try TransitionTable("house", initial: .a, final: [.end], rows)
    }
}

@Suite("StateMachine, model", .timeLimit(.minutes(20)))
struct StateMachineModelTests {
    @Test("FSM-6: a walk of events is what folding them over the table says (model)")
    func fold() async throws {
        try await explore(seeds: 126) { world in
            let seed = world.seed
            let house = RandomHouse(seed: seed)
            var random = RandomSource.seeded(seed &+ 99)
            let doors = (0..<40).map { _ in
                Door.allCases[Int.random(in: 0..<3, using: &random)]
            }
            var expected = [Room.a]
            for door in doors {
                guard let room = expected.last, room != .end else { break }
                if case .move(let target) = house.answer(room, door) { expected.append(target) }
            }
            let walk = expected
            let machine = StateMachine(try house.table { _, _ in nil })
            let end = spawn { do { return try await machine.run() } catch { return .a } }
            for door in doors { try machine.send(door) }
            try await settle(world)
            end.cancel()
            _ = await end.value
            #expect(entered(world) == walk, "seed \(seed)")
        }
    }

    @Test("FSM-6: with work, timeouts and senders in any order, no walk leaves the table")
    func walks() async throws {
        try await explore(seeds: 75) { world in
            let seed = world.seed
            let house = RandomHouse(seed: seed)
            let alive = Mutex(0)
            let table = try house.table { room, manner in
                .work(in: room, failed: .q, leaveTimeout: .century) { machine in
                    let others = alive.withLock { alive in
                        defer { alive += 1 }
                        return alive
                    }
                    #expect(others == 0, "two states' work at once, seed \(seed)")
                    defer { alive.withLock { $0 -= 1 } }
                    return try await work(manner, machine, world)
                }
            }
            let machine = StateMachine(table)
            let end = spawn { do { return try await machine.run() } catch { return .a } }
            let senders = (0..<3).map { number in
                spawn {
                    for _ in 0..<8 {
                        do {
                            try await world.clock.sleep(for: .milliseconds(300 + number))
                            try machine.send(Door.allCases[number])
                        } catch { Issue.record("\(error)") }
                    }
                }
            }
            for sender in senders { await sender.value }
            end.cancel()
            _ = await end.value
            try await world.clock.sleep(for: .seconds(60))
            #expect(alive.withLock { $0 } == 0)
            #expect(world.clock.sleeperCount == 0, "seed \(seed)")
            check(house, world)
        }
    }

    private func work(
        _ manner: RandomHouse.Manner, _ machine: StateMachine<Room, Door>, _ world: SimulatedWorld
    ) async throws -> Door? {
        switch manner {
        case .returns:
            try await world.clock.sleep(for: .milliseconds(200))
            return .p
        case .fails:
            try await world.clock.sleep(for: .milliseconds(250))
            throw Ill()
        case .waits:
            try await world.clock.sleep(for: .milliseconds(150))
            try machine.send(.r)
            try await hang(world)
            return nil
        case .lingers, .ignores:
            do { try await hang(world) } catch {}
            // Within its leaveTimeout, so that it is never abandoned here.
            await shielded {
                do { try await world.clock.sleep(for: .milliseconds(400)) } catch {}
            }
            return .p
        }
    }

    private func entered(_ world: SimulatedWorld) -> [Room] {
        world.story.filter { $0.first == "+" }.compactMap { word in
            Room.allCases.first { "+\($0)" == word }
        }
    }

    /// Stays alternate, and each follows from the one before by some event.
    private func check(_ house: RandomHouse, _ world: SimulatedWorld) {
        let marks = world.story.filter { $0.first == "+" || $0.first == "-" }
        for (place, mark) in marks.enumerated() {
            #expect(mark.first == (place % 2 == 0 ? "+" : "-"))
            if place % 2 == 1 { #expect(mark.dropFirst() == marks[place - 1].dropFirst()) }
        }
        let rooms = entered(world)
        for (from, to) in zip(rooms, rooms.dropFirst()) {
            let isRuled = Door.allCases.contains { house.answer(from, $0) == .move(to: to) }
            #expect(isRuled, "\(from) to \(to)")
        }
    }
}
