/// The bytes of HTTP answers.
enum HTTPAnswer {
    /// How the end of a body is told.
    enum Framing {
        /// Each piece carries its length, and an empty one ends the body.
        case chunked
        /// The connection ends (for clients of HTTP/1.0).
        case untilClose
    }

    /// The interim answer to `Expect: 100-continue`.
    static let proceed = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// A whole answer with a JSON body and a newline after it, for people with `curl`.
    static func whole(_ status: Int, _ body: JSONValue, keepsAlive: Bool) -> [UInt8] {
        let content = body.bytes + [UInt8(ascii: "\n")]
        var head = start(status, type: "application/json", keepsAlive: keepsAlive)
        head += "Content-Length: \(content.count)\r\n"
        if status == 405 { head += "Allow: GET, POST\r\n" }
        return Array("\(head)\r\n".utf8) + content
    }

    /// The head of an answer whose body is JSON lines.
    static func streamHead(_ framing: Framing, keepsAlive: Bool) -> [UInt8] {
        var head = start(200, type: "application/x-ndjson", keepsAlive: keepsAlive)
        switch framing {
        case .chunked: head += "Transfer-Encoding: chunked\r\n"
        case .untilClose: break
        }
        return Array("\(head)\r\n".utf8)
    }

    /// One line of a stream.
    static func line(_ value: JSONValue, _ framing: Framing) -> [UInt8] {
        let content = value.bytes + [UInt8(ascii: "\n")]
        switch framing {
        case .chunked:
            return Array("\(String(content.count, radix: 16))\r\n".utf8) + content
                + Array("\r\n".utf8)
        case .untilClose: return content
        }
    }

    /// The end of a stream.
    static func streamEnd(_ framing: Framing) -> [UInt8] {
        switch framing {
        case .chunked: Array("0\r\n\r\n".utf8)
        case .untilClose: []
        }
    }

    /// The body of an answer that says what went wrong.
    static func failure(code: String, message: String) -> JSONValue {
        ["error": ["code": .string(code), "message": .string(message)]]
    }

    private static func start(_ status: Int, type: String, keepsAlive: Bool) -> String {
        "HTTP/1.1 \(status) \(reason(status))\r\nContent-Type: \(type)\r\n"
            + (keepsAlive ? "" : "Connection: close\r\n")
    }

    /// The words of RFC 9110, section 15, for the statuses we and the engine use. Only people read
    /// them.
    private static func reason(_ status: Int) -> String {
        let words = [
            200: "OK", 202: "Accepted", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
            405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict",
            413: "Content Too Large", 417: "Expectation Failed", 422: "Unprocessable Content",
            431: "Request Header Fields Too Large", 500: "Internal Server Error",
            501: "Not Implemented", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
        ]
        return words[status] ?? "Answer"
    }
}
