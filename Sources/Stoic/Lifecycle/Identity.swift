/// The name of a service as the user wrote it. Names exist at the edges only: inside the brain a
/// service is a `ServiceID`.
public struct ServiceName: Hashable, Comparable, Sendable, CustomStringConvertible,
    ExpressibleByStringLiteral
{
    /// The name itself. Not validated here: the config's schema says what a name may be.
    public let text: String

    /// Wraps `text` as it is.
    public init(_ text: String) { self.text = text }
    /// Wraps a literal as it is.
    public init(stringLiteral value: String) { text = value }

    public var description: String { text }
    public static func < (left: ServiceName, right: ServiceName) -> Bool { left.text < right.text }
}

/// A place in the brain's table and the generation of its tenant. A slot is reused only after its
/// tenant was forgotten, under a new generation, so an old id never names a new service.
public struct ServiceID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The index in the table of services.
    public let slot: Int
    /// How many tenants the slot had before this one.
    public let generation: UInt32

    /// Names the tenant `generation` of `slot`.
    public init(slot: Int, generation: UInt32 = 0) {
        self.slot = slot
        self.generation = generation
    }

    public var description: String { "#\(slot).\(generation)" }
    public static func < (left: ServiceID, right: ServiceID) -> Bool {
        (left.slot, left.generation) < (right.slot, right.generation)
    }
}

/// One launch of a service. Never reused, not even over restarts of the engine: the host gives the
/// first number, and records it with the launch.
public struct Incarnation: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Counts launches of this project, from 1.
    public let number: UInt64

    /// The launch with this number.
    public init(_ number: UInt64) { self.number = number }

    public var description: String { "i\(number)" }
    public static func < (left: Incarnation, right: Incarnation) -> Bool {
        left.number < right.number
    }
}

/// The place of a decision in the record of all decisions of one engine, from 1.
public struct DecisionID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Counts decisions of this engine, from 1.
    public let number: UInt64

    /// The decision with this number.
    public init(_ number: UInt64) { self.number = number }

    public var description: String { "d\(number)" }
    public static func < (left: DecisionID, right: DecisionID) -> Bool {
        left.number < right.number
    }
}
