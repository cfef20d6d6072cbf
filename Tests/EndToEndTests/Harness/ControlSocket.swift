import CBench
import Glibc

@testable import Orchestrator

extension Bench {
    /// The control socket of the engine that runs; `nil` when none is there.
    var controlSocket: String? {
        Scratch.files(under: path("run")).first { $0.hasSuffix("/control/socket") }
    }

    /// Sends a request with bytes as they are; what came back in all, or until `limit`.
    func ask(
        _ method: String, _ target: String, _ body: String = "", within limit: Int32 = 5_000
    ) -> String {
        guard let path = controlSocket else { return "" }
        return RawControl.ask(path, method, target, body, within: limit)
    }

    /// A connection over which a request was sent and whose answer nobody has read.
    func openRequest(_ method: String, _ target: String, _ body: String = "") -> CInt? {
        guard let path = controlSocket else { return nil }
        return RawControl.open(path, method, target, body)
    }

    /// The JSON lines a verb printed.
    func json(_ verb: String...) async throws -> [JSONValue] {
        let program = try start(Launch(arguments(verb + ["--json"])))
        try await end(of: program)
        return try program.output.split(separator: "\n").map {
            try JSONValue(parsing: Array($0.utf8))
        }
    }

    /// The state of every service, by name.
    func states() async throws -> [String: String] {
        let status = try await json("status").first
        var states: [String: String] = [:]
        for service in status?["services"]?.array ?? [] {
            states[service["name"]?.string ?? ""] = service["state"]?.string
        }
        return states
    }
}

/// Requests by hand, to a control socket. They block.
enum RawControl {
    /// As `Bench.ask`.
    static func ask(
        _ path: String, _ method: String, _ target: String, _ body: String = "",
        within limit: Int32 = 5_000
    ) -> String {
        guard let socket = open(path, method, target, body) else { return "" }
        defer { close(socket) }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var ready = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while unsafe Glibc.poll(&ready, 1, limit) > 0 {
            let count = unsafe recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        return String(decoding: answer, as: UTF8.self)
    }

    /// As `Bench.openRequest`.
    static func open(
        _ path: String, _ method: String, _ target: String, _ body: String = ""
    ) -> CInt? {
        send(
            "\(method) \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)", to: path)
    }

    /// A client that connects, sends this and is gone.
    static func vanish(_ path: String, after text: String) {
        if let socket = send(text, to: path) { close(socket) }
    }

    private static func send(_ text: String, to path: String) -> CInt? {
        let socket = unsafe cbench_connect(path)
        guard socket >= 0 else { return nil }
        let bytes = Array(text.utf8)
        _ = unsafe Glibc.send(socket, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        return socket
    }
}
