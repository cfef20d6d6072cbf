import StoicTesting

@testable import Stoic

enum Link: CaseIterable, Hashable, Sendable { case down, connecting, up, closed }
enum Signal: CaseIterable, Hashable, Sendable { case connect, connected, lost, close }

typealias LinkTable = TransitionTable<Link, Signal>
typealias LinkMachine = StateMachine<Link, Signal>

extension LinkTable {
    /// The rules of a connection, and what a test adds to them.
    static func link(_ more: [LinkTable.Row] = []) throws -> LinkTable {
        try LinkTable(
            "link", initial: .down, final: [.closed],
            [
                .move(from: [.down], on: [.connect], to: .connecting),
                .move(from: [.connecting], on: [.connected], to: .up),
                .move(from: [.connecting, .up], on: [.lost], to: .down),
                .move(from: [.down, .connecting, .up], on: [.close], to: .closed),
                .ignore([.connect], in: [.connecting, .up]),
                .ignore([.lost], in: [.down]),
                .forbid([.connected], in: [.down, .up]),
            ] + more)
    }
}

/// Runs a machine beside the test and says in a word how that ended.
func run(_ machine: LinkMachine) -> Task<String, Never> {
    spawn { do { return "\(try await machine.run())" } catch { return "\(error)" } }
}

extension SimulatedWorld {
    /// The states entered and left so far, such as `+down -down`, and other events by name.
    var story: [String] {
        events.events.map { event in
            let state = event.fields.first { $0.key == "state" }
            guard case .text(let text)? = state?.value else { return event.name.text }
            switch event.name {
            case .stateEntered: return "+\(text)"
            case .stateLeft: return "-\(text)"
            default: return event.name.text
            }
        }
    }
}
