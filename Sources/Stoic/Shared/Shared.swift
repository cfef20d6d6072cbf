/// A value that is kept once: copies share it until one of them is given another. For what is
/// large, is held in several places and rarely changes; each copy costs a pointer.
@propertyWrapper
public struct Shared<Value: Sendable>: Sendable {
    private final class Box: Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private var box: Box

    /// The first holder of a value.
    public init(wrappedValue: Value) { box = Box(wrappedValue) }

    /// The value. Setting it leaves other holders what they have.
    public var wrappedValue: Value {
        get { box.value }
        set { box = Box(newValue) }
    }

    /// The holder itself, to hand on.
    public var projectedValue: Shared { self }
}

extension Shared: Equatable where Value: Equatable {
    /// Whether the values are equal.
    public static func == (left: Shared, right: Shared) -> Bool {
        left.box === right.box || left.box.value == right.box.value
    }
}

extension Shared: Hashable where Value: Hashable {
    /// Hashes the value.
    public func hash(into hasher: inout Hasher) { hasher.combine(box.value) }
}
