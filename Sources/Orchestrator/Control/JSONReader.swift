import CJSON

/// Why a text is no JSON that we take.
public struct JSONFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public let reason: String
    /// The line, from 1; 0 where no place can be given.
    public let line: Int
    /// The column in characters, from 1; 0 where no place can be given.
    public let column: Int

    public var description: String {
        line > 0 ? "line \(line), column \(column): \(reason)" : reason
    }
}

extension JSONValue {
    /// Containers in containers in containers: deeper than this is refused. Recursive walks over a
    /// value stay within any stack.
    public static let depthLimit = 64

    /// Reads one JSON text (RFC 8259) of any type. A key that occurs twice in an object, a number
    /// that does not fit, and a zero byte in a key are errors.
    ///
    /// The caller bounds the length; memory is about 70 bytes for each byte at worst.
    public init(parsing bytes: [UInt8]) throws(JSONFault) {
        var error = json_error_t()
        let flags = Int(JSON_REJECT_DUPLICATES) | Int(JSON_DECODE_ANY) | Int(JSON_ALLOW_NUL)
        guard !bytes.isEmpty else { throw JSONFault(reason: "no value", line: 1, column: 1) }
        // SAFETY: the bytes are read within the closure; the tree that comes back is ours, and
        // given back once.
        let root = unsafe bytes.withUnsafeBytes { bytes in
            let text = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            return unsafe json_loadb(text, bytes.count, size_t(flags), &error)
        }
        guard let root = unsafe root else { throw JSONFault(error) }
        defer { unsafe json_decref(root) }
        self = try unsafe JSONValue(root, depth: 0)
    }

    private init(_ json: UnsafeMutablePointer<json_t>, depth: Int) throws(JSONFault) {
        guard depth < Self.depthLimit else {
            throw JSONFault(
                reason: "more than \(Self.depthLimit) containers in each other", line: 0, column: 0)
        }
        // SAFETY: the tree lives until its root is given back; each value is read as the type it
        // says it has.
        switch unsafe json.pointee.type {
        case JSON_NULL: self = .null
        case JSON_TRUE: self = .bool(true)
        case JSON_FALSE: self = .bool(false)
        case JSON_INTEGER: self = unsafe .integer(Int64(json_integer_value(json)))
        case JSON_REAL: self = unsafe .number(json_real_value(json))
        case JSON_STRING: self = unsafe .string(Self.text(of: json))
        case JSON_ARRAY: self = try unsafe .array(Self.elements(of: json, depth: depth))
        case JSON_OBJECT: self = try unsafe .object(Self.members(of: json, depth: depth))
        default: throw JSONFault(reason: "a type of value we do not know", line: 0, column: 0)
        }
    }

    private static func text(of json: UnsafeMutablePointer<json_t>) -> String {
        // SAFETY: the text belongs to the tree, has this length, and is copied.
        let start = unsafe UnsafeRawPointer(json_string_value(json))
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: json_string_length(json))
        return unsafe String(decoding: bytes, as: UTF8.self)
    }

    private static func elements(
        of json: UnsafeMutablePointer<json_t>, depth: Int
    ) throws(JSONFault) -> [JSONValue] {
        // SAFETY: elements belong to the tree, which nobody changes.
        let count = unsafe json_array_size(json)
        var elements = [JSONValue]()
        elements.reserveCapacity(count)
        for index in 0..<count {
            guard let element = unsafe json_array_get(json, index) else { break }
            elements.append(try unsafe JSONValue(element, depth: depth + 1))
        }
        return elements
    }

    private static func members(
        of json: UnsafeMutablePointer<json_t>, depth: Int
    ) throws(JSONFault) -> JSONObject {
        var members = [JSONObject.Member]()
        // SAFETY: members and the texts of their keys belong to the tree, which nobody changes
        // meanwhile.
        unsafe members.reserveCapacity(json_object_size(json))
        var place = unsafe json_object_iter(json)
        while let member = unsafe place {
            guard let key = unsafe json_object_iter_key(member),
                let value = unsafe json_object_iter_value(member)
            else { break }
            let name = unsafe String(cString: key)
            members.append(.init(key: name, value: try unsafe JSONValue(value, depth: depth + 1)))
            unsafe place = json_object_iter_next(json, member)
        }
        return JSONObject(members)
    }
}

extension JSONFault {
    /// jansson keeps a place and a text of at most 159 bytes, and its code in the last of them.
    fileprivate init(_ error: json_error_t) {
        var error = error
        // SAFETY: the bytes are read within the closure, and copied.
        let reason = unsafe withUnsafeBytes(of: &error.text) { text in
            unsafe String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
        self.init(
            reason: reason, line: max(0, Int(error.line)),
            column: max(0, Int(error.column)))
    }
}
