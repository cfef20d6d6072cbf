import Stoic

/// The smallest state machine.
enum Lamp: CaseIterable {
    case lit, dark

    enum Press: CaseIterable { case off }

    static func table() throws -> TransitionTable<Lamp, Press> {
        try TransitionTable(
            "lamp", initial: .lit, final: [.dark], [.move(from: [.lit], on: [.off], to: .dark)])
    }
}
