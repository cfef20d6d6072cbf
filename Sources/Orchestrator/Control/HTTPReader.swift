import CHTTPParser

/// Reads HTTP/1.1 messages of one direction, one after the other, from bytes that come in any
/// pieces. The grammar is http-parser's; the limits are ours.
///
/// After a message it stops, so that whoever answers in order takes the next one when it is ready:
/// what it did not consume stays with the caller.
@safe final class HTTPReader {
    /// Which side's messages are read.
    enum Kind {
        case requests
        case responses
    }

    /// How far the current message came.
    enum Progress {
        /// Nothing of it is there.
        case idle
        /// A part of the head is there.
        case head
        /// The head is there; the body is being read.
        case body
        /// All of it is there.
        case complete
    }

    /// How far the current message came.
    private(set) var progress = Progress.idle
    /// The request's target, undecoded.
    private(set) var target: [UInt8] = []
    /// The headers, names in lower case; trailers of a chunked body follow.
    private(set) var headers: [(name: String, value: String)] = []
    /// What was read of the body and not taken yet.
    private(set) var body: [UInt8] = []
    /// Whether the connection can carry another message after this one.
    private(set) var keepsAlive = false

    private let parser: UnsafeMutablePointer<http_parser>
    private var settings: http_parser_settings
    private let bodyLimit: Int
    private var fault: HTTPFault?
    private var name: [UInt8] = []
    private var value: [UInt8] = []
    private var isInValue = false

    /// The longest head in bytes; also the longest trailer.
    static let headLimit = 16 << 10

    /// The limit in http-parser is one for the whole process; it is set once.
    private static let limits: Void = http_parser_set_max_header_size(UInt32(headLimit))

    /// - Parameter bodyLimit: how much of a body may be held at a time, in bytes. A caller that
    ///   takes it as it comes may read bodies of any length.
    init(_ kind: Kind, bodyLimit: Int) {
        Self.limits
        self.bodyLimit = bodyLimit
        // SAFETY: the parser is ours until `deinit`; it calls back only while we feed it, so we
        // live then.
        unsafe parser = .allocate(capacity: 1)
        settings = http_parser_settings()
        unsafe http_parser_init(parser, kind == .requests ? HTTP_REQUEST : HTTP_RESPONSE)
        unsafe parser.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        installCallbacks()
    }

    // SAFETY: `init` allocated it, and nobody else has it.
    deinit { unsafe parser.deallocate() }

    /// The request's method, as it was written.
    var method: String {
        // SAFETY: the parser lives as long as we do, and the names of methods are constants.
        let method = unsafe http_method(rawValue: parser.pointee.method)
        guard let text = unsafe http_method_str(method) else { return "" }
        return unsafe String(cString: text)
    }

    /// The response's status.
    var status: Int {
        // SAFETY: the parser lives as long as we do.
        unsafe Int(parser.pointee.status_code)
    }

    /// The message's version.
    var version: (major: Int, minor: Int) {
        // SAFETY: the parser lives as long as we do.
        unsafe (Int(parser.pointee.http_major), Int(parser.pointee.http_minor))
    }

    /// The value of a header, by its name in lower case.
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// Reads on.
    ///
    /// - Parameter bytes: what came; none means that nothing more will come.
    /// - Returns: how many were consumed: all, or those up to the end of the message.
    /// - Throws: what is wrong with the message. Nothing can be read after that.
    func feed(_ bytes: ArraySlice<UInt8>) throws(HTTPFault) -> Int {
        if let fault { throw fault }
        if progress == .complete { return 0 }
        if progress == .idle, !bytes.isEmpty { progress = .head }
        // SAFETY: the bytes are read within the closure, and so are the callbacks made.
        let consumed = unsafe bytes.withUnsafeBytes { bytes in
            let text = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            return unsafe http_parser_execute(parser, &settings, text, bytes.count)
        }
        try checkResult(consumed: consumed, of: bytes.count)
        return consumed
    }

    /// Takes what was read of the body so far.
    func takeBody() -> [UInt8] {
        defer { body = [] }
        return body
    }

    /// Makes room for the next message, after a complete one.
    func next() {
        guard progress == .complete else { return }
        // SAFETY: the parser lives as long as we do, and is not at work.
        unsafe http_parser_pause(parser, 0)
        progress = .idle
        target = []
        headers = []
        body = []
    }

    private func checkResult(consumed: Int, of count: Int) throws(HTTPFault) {
        if fault == nil {
            // SAFETY: the parser lives as long as we do, and descriptions are constants.
            let error = unsafe http_errno(rawValue: parser.pointee.http_errno)
            switch error {
            case HPE_OK where consumed == count && !isUpgrade: return
            case HPE_PAUSED where progress == .complete && !isUpgrade: return
            case HPE_OK, HPE_PAUSED: fault = .upgrade
            case HPE_HEADER_OVERFLOW: fault = .headTooLong(limit: Self.headLimit)
            default: fault = unsafe .malformed(String(cString: http_errno_description(error)))
            }
        }
        if let fault { throw fault }
    }

    // SAFETY: the parser lives as long as we do.
    private var isUpgrade: Bool { unsafe parser.pointee.upgrade != 0 }
}

/// Why an HTTP message is not taken.
enum HTTPFault: Error, Hashable {
    /// It breaks the grammar.
    case malformed(String)
    /// Its head, or the trailer of its body, is longer than `limit` bytes.
    case headTooLong(limit: Int)
    /// Its body is longer than `limit` bytes.
    case bodyTooLong(limit: Int)
    /// It wants another protocol on this connection.
    case upgrade
    /// It is of another major version.
    case version
}

// MARK: - What http-parser reports

extension HTTPReader {
    private static func of(_ parser: UnsafeMutablePointer<http_parser>?) -> HTTPReader {
        // SAFETY: the data is the reader that owns the parser, and feeds it at this moment.
        guard let data = unsafe parser?.pointee.data else {
            fatalError("a parser callback came without its reader")
        }
        return unsafe Unmanaged<HTTPReader>.fromOpaque(data).takeUnretainedValue()
    }

    private func installCallbacks() {
        // SAFETY: each piece lies in the bytes being fed, is as long as is told, and is copied at
        // once.
        unsafe settings.on_url = { parser, at, count in
            unsafe HTTPReader.of(parser).target += UnsafeRawBufferPointer(start: at, count: count)
            return 0
        }
        unsafe settings.on_header_field = { parser, at, count in
            unsafe HTTPReader.of(parser).addToName(UnsafeRawBufferPointer(start: at, count: count))
            return 0
        }
        unsafe settings.on_header_value = { parser, at, count in
            unsafe HTTPReader.of(parser).addToValue(UnsafeRawBufferPointer(start: at, count: count))
            return 0
        }
        unsafe settings.on_headers_complete = { unsafe HTTPReader.of($0).endHead() }
        unsafe settings.on_body = { parser, at, count in
            unsafe HTTPReader.of(parser).addToBody(UnsafeRawBufferPointer(start: at, count: count))
        }
        unsafe settings.on_message_complete = { parser in
            let reader = unsafe HTTPReader.of(parser)
            reader.endHeader()
            reader.progress = .complete
            unsafe http_parser_pause(parser, 1)
            return 0
        }
    }

    /// A name and a value come in pieces; a piece of a name after one of a value begins the next.
    private func addToName(_ bytes: UnsafeRawBufferPointer) {
        // SAFETY: the bytes are those of a callback under way, and are copied.
        if isInValue { endHeader() }
        unsafe name += bytes
    }

    private func addToValue(_ bytes: UnsafeRawBufferPointer) {
        // SAFETY: the bytes are those of a callback under way, and are copied.
        isInValue = true
        unsafe value += bytes
    }

    private func endHeader() {
        guard isInValue else { return }
        let lowered = name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        headers.append(
            (String(decoding: lowered, as: UTF8.self), String(decoding: value, as: UTF8.self)))
        name = []
        value = []
        isInValue = false
    }

    /// - Returns: what http-parser expects: 0 to read on, anything but 0 to 2 to fail.
    private func endHead() -> CInt {
        endHeader()
        progress = .body
        // SAFETY: the parser lives as long as we do.
        keepsAlive = unsafe http_should_keep_alive(parser) != 0
        if version.major != 1 { fault = .version }
        // Without a length the parser says the greatest number there is.
        let length = unsafe parser.pointee.content_length
        if length != .max, length > UInt64(bodyLimit), isRequest {
            fault = .bodyTooLong(limit: bodyLimit)
        }
        return fault == nil ? 0 : -1
    }

    // SAFETY: the parser lives as long as we do.
    private var isRequest: Bool { unsafe parser.pointee.type == HTTP_REQUEST.rawValue }

    private func addToBody(_ bytes: UnsafeRawBufferPointer) -> CInt {
        // SAFETY: the bytes are those of a callback under way, and are copied.
        guard body.count + bytes.count <= bodyLimit else {
            fault = .bodyTooLong(limit: bodyLimit)
            return -1
        }
        unsafe body += bytes
        return 0
    }
}
