import StoicTesting
import Testing

@testable import Stoic

@Suite("TransitionTable", .timeLimit(.minutes(5)))
struct TransitionTableTests {
    @Test("FSM-5: states that cannot be reached, and states that cannot be left, are reported")
    func suspicious() async throws {
        try await simulate { world in
            let table = try LinkTable(
                "odd", initial: .down, final: [.closed],
                [
                    .move(from: [.down], on: [.connect], to: .up),
                    .move(from: [.up], on: [.connect], to: .up),
                    .move(from: [.connecting], on: [.connect], to: .connecting),
                    .ignore([.connected, .lost, .close], in: [.down, .up, .connecting]),
                ])
            #expect(table.unreachable == [.connecting, .closed])
            #expect(table.sinks == [.connecting, .up])
            #expect(world.events.names == ["state.unreachable", "state.sink"])
            let link = try LinkTable.link()
            #expect(link.unreachable.isEmpty && link.sinks.isEmpty)
            #expect(world.events.names.count == 2)
            #expect(link.answer(to: .connect, in: .down) == .move(to: .connecting))
            #expect(link.answer(to: .connected, in: .up) == .forbid)
            #expect(link.answer(to: .connect, in: .closed) == .ignore)
        }
    }

    @Test("FSM-7: every gap, double and other mistake of a table is named, and it is not made")
    func mistakes() async throws {
        try await simulate { world in
            let error = #expect(throws: TransitionTableError.self) {
                try LinkTable(
                    initial: .down, final: [.closed],
                    [
                        .move(from: [.down], on: [.connect], to: .connecting),
                        .forbid([.connect, .lost], in: [.down]),
                        .ignore([.connect, .connected, .close], in: [.connecting]),
                        .ignore(Array(Signal.allCases), in: [.up, .closed]),
                        .work(in: .up, failed: .lost) { _ in nil },
                        .work(in: .up, failed: .lost) { _ in nil },
                        .timeout(after: .zero, in: [.up], send: .lost),
                    ])
            }
            let expected = [
                "no rule for down × connected", "no rule for down × close",
                "no rule for connecting × lost", "two rules for down × connect",
                "two pieces of work in up", "a timeout of no time in up",
                "the final state closed has rules, work or timeouts",
            ]
            #expect(error?.mistakes == expected)
            #expect(error?.description.hasPrefix("cannot make the transition table: no") == true)
            #expect(world.events.names.isEmpty)
        }
    }

    /// Which pairs a random table leaves out or has twice.
    struct Line: Sendable {
        let state: Link
        let event: Signal
        let target: Link?
    }

    @Test("a table is made exactly when each pair has one rule (property)")
    func exhaustive() async throws {
        let states: [Link] = [.down, .connecting, .up]
        let check = ModelCheck<Line>(
            length: 24,
            command: { random in
                Line(
                    state: states[Int.random(in: 0..<3, using: &random)],
                    event: Signal.allCases[Int.random(in: 0..<4, using: &random)],
                    target: Bool.random(using: &random)
                        ? Link.allCases[Int.random(in: 0..<4, using: &random)] : nil)
            },
            disagreement: { lines in
                var counts: [String: Int] = [:]
                for line in lines { counts["\(line.state) × \(line.event)", default: 0] += 1 }
                let pairs = states.flatMap { state in Signal.allCases.map { "\(state) × \($0)" } }
                let gaps = pairs.filter { counts[$0] == nil }.map { "no rule for \($0)" }
                let doubles = counts.flatMap { pair, count in
                    Array(repeating: "two rules for \(pair)", count: count - 1)
                }
                let rows = lines.map { line in
                    line.target.map { .move(from: [line.state], on: [line.event], to: $0) }
                        ?? LinkTable.Row.ignore([line.event], in: [line.state])
                }
                do throws(TransitionTableError) {
                    _ = try LinkTable(initial: .down, final: [.closed], rows)
                    return gaps.isEmpty && doubles.isEmpty ? nil : "made with mistakes"
                } catch {
                    let same = error.mistakes.sorted() == (gaps + doubles).sorted()
                    return same ? nil : "\(error.mistakes) instead of \(gaps + doubles)"
                }
            })
        try await withAmbient {
            $0.instrumentation = SilentInstrumentation()
        } operation: {
            try check.check(seeds: 0..<300)
        }
    }
}
