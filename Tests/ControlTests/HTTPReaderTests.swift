import Testing

@testable import Orchestrator

@Suite("HTTPReader", .timeLimit(.minutes(1)))
struct HTTPReaderTests {
    private static let chunked =
        "POST /v1/echo?a=b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "4\r\n{\"a\"\r\n3;ext=1\r\n:1}\r\n0\r\nTrailer: t\r\n\r\n"

    @Test("CTL-21: a message cut at any two places reads the same")
    func anySplit() throws {
        let bytes = Array(Self.chunked.utf8)
        for first in 0...bytes.count {
            for second in stride(from: first, through: bytes.count, by: 7) {
                let reader = HTTPReader(.requests, bodyLimit: 100)
                for piece in [bytes[..<first], bytes[first..<second], bytes[second...]]
                where !piece.isEmpty {
                    #expect(try reader.feed(piece) == piece.count)
                }
                #expect(reader.progress == .complete)
                #expect(String(decoding: reader.target, as: UTF8.self) == "/v1/echo?a=b")
                #expect(String(decoding: reader.body, as: UTF8.self) == "{\"a\":1}")
                #expect(reader.headers.map(\.name) == ["host", "transfer-encoding", "trailer"])
                #expect(reader.method == "POST")
            }
        }
    }

    @Test("CTL-32: a message ends where it ends; the next one is left")
    func pipelined() throws {
        let one = Array("GET /1 HTTP/1.1\r\n\r\n".utf8)
        let reader = HTTPReader(.requests, bodyLimit: 100)
        let both = (one + one)[...]
        #expect(try reader.feed(both) == one.count)
        #expect(try reader.feed(both.dropFirst(one.count)) == 0)
        reader.next()
        #expect(try reader.feed(both.dropFirst(one.count)) == one.count)
        #expect(reader.progress == .complete)
    }

    private func fault(_ text: String, bodyLimit: Int = 10) -> HTTPFault? {
        let reader = HTTPReader(.requests, bodyLimit: bodyLimit)
        do {
            _ = try reader.feed(Array(text.utf8)[...])
            return nil
        } catch { return error }
    }

    @Test(
        "CTL-22: what breaks the grammar is malformed",
        arguments: [
            "\0\0\0\0", "hello\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "GET / HTTP/1.1\r\nA\u{01}: c\r\n\r\n", "\u{16}\u{03}\u{01}\u{02}",
        ])
    func malformed(_ text: String) {
        guard case .malformed = fault(text) else {
            Issue.record("\(String(describing: fault(text))) for \(text.debugDescription)")
            return
        }
    }

    @Test("CTL-23: heads and trailers over 16 KiB are refused, in one piece or in many")
    func longHeads() {
        let filler = String(repeating: "x", count: 17 << 10)
        let limit = HTTPFault.headTooLong(limit: 16 << 10)
        #expect(fault("GET /\(filler) HTTP/1.1\r\n\r\n") == limit)
        #expect(fault("GET / HTTP/1.1\r\nA: \(filler)\r\n\r\n") == limit)
        #expect(fault("GET / HTTP/1.1\r\n\(filler): x\r\n\r\n") == limit)
        let many = String(repeating: "a: b\r\n", count: 4000)
        #expect(fault("GET / HTTP/1.1\r\n\(many)\r\n") == limit)
        let start = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        #expect(fault(start + "T: \(filler)\r\n\r\n") == limit)
        let reader = HTTPReader(.requests, bodyLimit: 1)
        #expect(throws: limit) {
            for byte in "GET / HTTP/1.1\r\nA: \(filler)".utf8 { _ = try reader.feed([byte]) }
        }
    }

    @Test("CTL-24: bodies over the limit are refused, by their length or as they come")
    func longBodies() {
        let limit = HTTPFault.bodyTooLong(limit: 10)
        #expect(fault("POST / HTTP/1.1\r\nContent-Length: 11\r\n\r\n") == limit)
        #expect(fault("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\n0123456789") == nil)
        let start = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(fault(start + "6\r\n012345\r\n6\r\n012345\r\n") == limit)
    }

    @Test("other protocols and versions are told apart from garbage")
    func otherProtocols() {
        #expect(fault("CONNECT a:1 HTTP/1.1\r\n\r\n") == .upgrade)
        let upgrade = "GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
        #expect(fault(upgrade) == .upgrade)
        #expect(fault("GET / HTTP/2.0\r\n\r\n") == .version)
    }

    @Test("CTL-22: random bytes and random mutations never read as more than was sent")
    func randomBytes() {
        var random = SystemRandomNumberGenerator()
        let valid = Array(Self.chunked.utf8)
        for round in 0..<2000 {
            var bytes = valid
            if round.isMultiple(of: 2) {
                bytes = (0..<200).map { _ in .random(in: 0...255, using: &random) }
            } else {
                for _ in 0..<3 {
                    bytes[.random(in: bytes.indices, using: &random)] =
                        .random(in: 0...255, using: &random)
                }
            }
            let reader = HTTPReader(.requests, bodyLimit: 64)
            var rest = bytes[...]
            do {
                while !rest.isEmpty, reader.progress != .complete {
                    let count = try reader.feed(rest.prefix(.random(in: 1...64, using: &random)))
                    #expect(count > 0)
                    rest = rest.dropFirst(count)
                }
            } catch { continue }
            #expect(reader.body.count <= 64)
        }
    }

    @Test("targets are decoded, and broken ones refused")
    func targets() {
        let target = HTTPTarget(Array("/v1/services/a%20b%2Fc/?x=1&y&z=a+b%26&x=2".utf8))
        #expect(target?.path == ["v1", "services", "a b/c"])
        #expect(target?.query == ["x": "2", "y": "", "z": "a b&"])
        #expect(HTTPTarget(Array("/".utf8))?.path == [])
        for text in ["", "*", "http://x/", "/%", "/%4", "/%zz", "/%ff", "/a?%"] {
            #expect(HTTPTarget(Array(text.utf8)) == nil)
        }
    }
}
