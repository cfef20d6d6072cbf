public import Stoic

/// An event that a test expects: its name, and as many of its fields as matter.
///
/// ```swift
/// let expected: [ExpectedEvent] = [
///     "graph.starting", .event("service.started", ["service": "database"]),
/// ]
/// ```
public struct ExpectedEvent: Hashable, Sendable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    let name: String
    let fields: [String: String]

    /// An event of this name, whatever its fields.
    public init(stringLiteral name: String) { self.init(name: name, fields: [:]) }

    private init(name: String, fields: [String: String]) {
        self.name = name
        self.fields = fields
    }

    /// An event of this name with these fields, as they read in text; other fields may be there.
    public static func event(_ name: String, _ fields: [String: String] = [:]) -> ExpectedEvent {
        ExpectedEvent(name: name, fields: fields)
    }

    /// An event of this name with these fields; other fields may be there.
    public static func event(
        _ name: EventName, _ fields: [String: String] = [:]
    ) -> ExpectedEvent {
        ExpectedEvent(name: name.text, fields: fields)
    }

    /// Whether `event` is such a one.
    func matches(_ event: Event) -> Bool {
        guard event.name.text == name else { return false }
        return fields.allSatisfy { key, value in
            event.fields.contains { $0.key == key && $0.value.inWords == value }
        }
    }

    /// The name and the fields.
    public var description: String {
        name + fields.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    }
}

/// How much of a trace is expected.
public enum TraceOrder: Hashable, Sendable {
    /// These events and no others, in this order.
    case exact
    /// These events in this order; others may come between.
    case inOrder
    /// These events and no others, in any order.
    case anyOrder
}

extension EventRecorder {
    /// Checks what was reported.
    ///
    /// ```swift
    /// let recorder = EventRecorder()
    /// try await withAmbient { $0.instrumentation = recorder } operation: {
    ///     try await graph.run { _ in }
    /// }
    /// try recorder.expectTrace(["graph.starting", "graph.stopped"], .inOrder)
    /// ```
    /// - Parameters:
    ///   - expected: The events.
    ///   - order: How much of the trace they are.
    ///   - level: Events below it are left out; by default those that only a developer needs.
    /// - Throws: `TraceMismatch`, which shows both side by side.
    public func expectTrace(
        _ expected: [ExpectedEvent], _ order: TraceOrder = .exact, from level: Event.Level = .info
    ) throws(TraceMismatch) {
        let actual = try trace(from: level)
        let isRight =
            switch order {
            case .exact: expected.count == actual.count && isInOrder(expected, actual)
            case .inOrder: isInOrder(expected, actual)
            case .anyOrder: expected.count == actual.count && isPermutation(expected, actual)
            }
        guard !isRight else { return }
        throw TraceMismatch(
            lines: TraceDifference(expected, actual, shared: order == .anyOrder).lines)
    }

    /// Checks a partial order: the events of each chain come in its order, with others between; the
    /// chains say nothing about each other. An event in two chains ties them together.
    ///
    /// ```swift
    /// let recorder = EventRecorder()
    /// let a = ExpectedEvent.event("service.started", ["service": "a"])
    /// let b = ExpectedEvent.event("service.started", ["service": "b"])
    /// try recorder.expectTrace(chains: [
    ///     ["graph.starting", a, "graph.started"], ["graph.starting", b, "graph.started"],
    /// ])
    /// ```
    /// - Throws: `TraceMismatch` for the first chain that does not hold.
    public func expectTrace(
        chains: [[ExpectedEvent]], from level: Event.Level = .info
    ) throws(TraceMismatch) {
        let actual = try trace(from: level)
        for chain in chains where !isInOrder(chain, actual) {
            throw TraceMismatch(lines: TraceDifference(chain, actual, shared: false).lines)
        }
    }

    private func trace(from level: Event.Level) throws(TraceMismatch) -> [Event] {
        guard dropped == 0 else {
            throw TraceMismatch(lines: ["the recorder was full: \(dropped) events were dropped"])
        }
        return events.filter { $0.level >= level }
    }

    private func isInOrder(_ expected: [ExpectedEvent], _ actual: [Event]) -> Bool {
        var next = expected[...]
        for event in actual {
            if let first = next.first, first.matches(event) { next = next.dropFirst() }
        }
        return next.isEmpty
    }

    /// The most particular ones choose first, so that "any a" does not take away "the a of b".
    private func isPermutation(_ expected: [ExpectedEvent], _ actual: [Event]) -> Bool {
        var left = actual
        for one in expected.sorted(by: { $0.fields.count > $1.fields.count }) {
            guard let place = left.firstIndex(where: { one.matches($0) }) else { return false }
            left.remove(at: place)
        }
        return left.isEmpty
    }
}

/// A trace that is not what was expected.
public struct TraceMismatch: Error, CustomStringConvertible {
    /// One event to a line: `  ` for one that is right, `- ` for one that is missing, `+ ` for one
    /// that was not expected.
    public let lines: [String]

    public var description: String {
        "the trace is not the expected one (- missing, + not expected):\n"
            + lines.joined(separator: "\n")
    }
}
