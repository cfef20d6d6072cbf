internal import CJSON

extension EventRecord {
    /// Reads a record back from its line of JSON; `nil` for a line that is none, a torn one say.
    /// Fields of kinds that no record has (objects) are left out.
    public init?(json line: [UInt8]) {
        // SAFETY: the bytes are read within the closure; the tree that comes back is ours, and
        // given back once all that is needed of it was copied.
        let root = unsafe line.withUnsafeBytes { bytes in
            unsafe json_loadb(
                bytes.baseAddress, bytes.count, size_t(JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL), nil
            )
        }
        guard let root = unsafe root else { return nil }
        defer { unsafe json_decref(root) }
        guard let id = unsafe integer(root, "id"), let name = unsafe text(root, "name"),
            let level = unsafe text(root, "level").flatMap(EventLevel.init(rawValue:))
        else { return nil }
        self.init(id: UInt64(bitPattern: id), name: name, level: level)
        cause = unsafe integer(root, "cause").map { UInt64(bitPattern: $0) }
        wallNanoseconds = unsafe integer(root, "wallNs") ?? 0
        monotonicNanoseconds = unsafe integer(root, "monotonicNs") ?? 0
        service = unsafe text(root, "service")
        incarnation = unsafe integer(root, "incarnation").map { UInt64(bitPattern: $0) }
        message = unsafe text(root, "message") ?? ""
        let particulars = unsafe json_object_get(root, "fields")
        var place = unsafe json_object_iter(particulars)
        while let here = unsafe place {
            let key = unsafe String(cString: json_object_iter_key(here))
            if let value = unsafe FieldValue(json_object_iter_value(here)) {
                fields.append((key, value))
            }
            unsafe place = unsafe json_object_iter_next(particulars, here)
        }
    }
}

extension FieldValue {
    /// The value of a piece of JSON; `nil` for an object.
    fileprivate init?(_ json: UnsafeMutablePointer<json_t>?) {
        // SAFETY: the value belongs to a tree that lives, and is read as the type it says it has.
        guard let json = unsafe json else { return nil }
        switch unsafe json.pointee.type {
        case JSON_STRING:
            guard let text = unsafe string(json) else { return nil }
            self = .text(text)
        case JSON_INTEGER: self = unsafe .integer(Int64(json_integer_value(json)))
        case JSON_REAL: self = unsafe .number(json_real_value(json))
        case JSON_TRUE: self = .flag(true)
        case JSON_FALSE: self = .flag(false)
        case JSON_NULL: self = .none
        case JSON_ARRAY:
            self = unsafe .list(
                (0..<json_array_size(json)).compactMap {
                    unsafe FieldValue(json_array_get(json, $0))
                })
        default: return nil
        }
    }
}

private func integer(_ object: UnsafeMutablePointer<json_t>, _ key: String) -> Int64? {
    // SAFETY: the value belongs to the tree, and is a number where it says so.
    guard let value = unsafe json_object_get(object, key),
        unsafe value.pointee.type == JSON_INTEGER
    else { return nil }
    return unsafe Int64(json_integer_value(value))
}

private func text(_ object: UnsafeMutablePointer<json_t>, _ key: String) -> String? {
    // SAFETY: the value belongs to the tree; one that is no text gives none.
    guard let value = unsafe json_object_get(object, key) else { return nil }
    return unsafe string(value)
}

/// The text of a JSON string, NULs included.
private func string(_ json: UnsafeMutablePointer<json_t>) -> String? {
    // SAFETY: the text belongs to the tree, has this length, and is copied.
    guard let start = unsafe json_string_value(json) else { return nil }
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: json_string_length(json))
    return unsafe String(decoding: bytes, as: UTF8.self)
}
