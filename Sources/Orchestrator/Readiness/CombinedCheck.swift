import Manifest

/// All of several checks, or one of them.
final class CombinedCheck: ReadinessCheck {
    /// How the parts are combined.
    enum Rule {
        case all
        case any
    }

    private let rule: Rule
    private let onMet: () -> Void
    private var parts: [any ReadinessCheck] = []
    private var unmet: Set<Int>
    private var isOver = false

    init(
        _ rule: Rule, _ definitions: [ReadyDefinition], _ context: ReadinessContext,
        _ pipes: inout [Int32: CInt], _ onMet: @escaping () -> Void
    ) {
        self.rule = rule
        self.onMet = onMet
        unmet = Set(definitions.indices)
        for (index, definition) in definitions.enumerated() {
            parts.append(makeCheck(definition, context, &pipes) { [weak self] in self?.met(index) })
        }
    }

    var missing: String {
        let words = unmet.sorted().map { parts[$0].missing }
        return words.joined(separator: rule == .all ? "; " : ", nor the other way: ")
    }

    func begin() { for part in parts { part.begin() } }
    func note(_ fact: ReadinessFact) { each { $0.note(fact) } }
    // SAFETY: the caller keeps the bytes until this returns.
    func noteOutput(_ bytes: UnsafeRawBufferPointer) { each { unsafe $0.noteOutput(bytes) } }

    func close() {
        isOver = true
        for part in parts { part.close() }
    }

    private func each(_ body: (any ReadinessCheck) -> Void) {
        for index in parts.indices where !isOver && unmet.contains(index) { body(parts[index]) }
    }

    private func met(_ index: Int) {
        guard !isOver, unmet.remove(index) != nil else { return }
        parts[index].close()
        guard rule == .any || unmet.isEmpty else { return }
        isOver = true
        onMet()
    }
}
