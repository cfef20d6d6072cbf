/// Names a service of a graph, and says what it is. Keys are values: two keys with two names are
/// two services, also when they are of one type.
///
/// ```swift
/// let pages = ServiceKey<Cache>("pages")
/// let pictures = ServiceKey<Cache>("pictures")
/// ```
public struct ServiceKey<Value: Sendable>: Hashable, Sendable {
    /// The name, as events and messages show it.
    public let name: String

    /// A key of this name. Two keys of one name and one type are the same key.
    public init(_ name: String) { self.name = name }

    /// The key without its type, to list it as a need.
    public var any: AnyServiceKey { AnyServiceKey(name: name, type: Value.self) }
}

/// A key without its type.
public struct AnyServiceKey: Hashable, Sendable, CustomStringConvertible {
    /// The name, as events and messages show it.
    public let name: String
    private let type: ObjectIdentifier
    /// What the service is, in words.
    let typeName: String

    init<Value: Sendable>(name: String, type: Value.Type) {
        self.name = name
        self.type = ObjectIdentifier(type)
        typeName = String(describing: type)
    }

    /// The name.
    public var description: String { name }
}
