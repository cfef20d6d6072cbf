/// A JSON text as a value: what requests bring and answers are made of.
///
/// Integers of 64 bits stay exact; an object keeps the order of its members, because people read
/// them.
public indirect enum JSONValue: Hashable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number without fraction or exponent.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object.
    case object(JSONObject)

    /// The value of a member if this is an object that has it.
    public subscript(key: String) -> JSONValue? { object?[key] }

    /// The string, if this is one.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The integer, if this is one.
    public var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The boolean, if this is one.
    public var bool: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    /// The elements, if this is an array.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members, if this is an object.
    public var object: JSONObject? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Writes this value where a value is due.
    public func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.null()
        case .bool(let flag): writer.value(flag)
        case .integer(let number): writer.value(number)
        case .number(let number): writer.value(number)
        case .string(let text): writer.value(text)
        case .array(let elements):
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        case .object(let object):
            writer.beginObject()
            for member in object.members {
                writer.key(member.key)
                member.value.write(to: &writer)
            }
            writer.endObject()
        }
    }

    /// This value as UTF-8, without whitespace.
    public var bytes: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.bytes
    }
}

extension JSONValue: CustomStringConvertible {
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringInterpolation,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `null`.
    public init(nilLiteral: ()) { self = .null }
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number with a fraction.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An array of these.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object with these members.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.map { .init(key: $0.0, value: $0.1) }))
    }
}

/// The members of a JSON object, in order. Whoever builds one gives each key once.
public struct JSONObject: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// The members, in order.
    public private(set) var members: [Member]

    /// A key and its value.
    public struct Member: Hashable, Sendable {
        /// The key.
        public var key: String
        /// The value.
        public var value: JSONValue

        /// A member from its parts.
        public init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// An object with these members.
    public init(_ members: [Member]) { self.members = members }

    /// An object with these members.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        members = elements.map { .init(key: $0.0, value: $0.1) }
    }

    /// The value of a key. Setting `nil` removes the member; a new key comes last.
    /// - Complexity: O(members).
    public subscript(key: String) -> JSONValue? {
        get { members.first { $0.key == key }?.value }
        set {
            let place = members.firstIndex { $0.key == key }
            switch (place, newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append(.init(key: key, value: value))
            case (nil, nil): break
            }
        }
    }
}
