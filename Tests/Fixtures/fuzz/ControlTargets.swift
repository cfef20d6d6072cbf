import Stoic

@testable import Orchestrator

/// Requests of the control API: the bytes of a connection, in one piece and in two.
struct RequestTarget: FuzzTarget {
    static let name = "request"

    /// The first byte says where the pieces part.
    func read(_ bytes: [UInt8]) {
        guard let head = bytes.first else { return }
        let text = Array(bytes.dropFirst())
        let whole = Self.requests([text[...]])
        let cut = text.isEmpty ? 0 : Int(head) * text.count / 255
        let parts = Self.requests([text[..<cut], text[cut...]])
        promise(whole == parts, "pieces make no difference: \(whole), \(parts)")
        for request in whole {
            guard let target = HTTPTarget(request.target) else { continue }
            // A broken character comes out as three bytes.
            let decoded = target.path.reduce(0) { $0 + $1.utf8.count }
            promise(decoded <= 3 * request.target.count, "decoding has a bound")
        }
    }

    private struct Request: Equatable {
        var method: String
        var target: [UInt8]
        var body: [UInt8]
    }

    private static func requests(_ pieces: [ArraySlice<UInt8>]) -> [Request] {
        let reader = HTTPReader(.requests, bodyLimit: 1 << 16)
        var found: [Request] = []
        for piece in pieces {
            var rest = piece
            while !rest.isEmpty {
                do throws(HTTPFault) {
                    rest = rest.dropFirst(try reader.feed(rest))
                } catch {
                    return found
                }
                guard reader.progress == .complete else { break }
                found.append(
                    Request(
                        method: reader.method, target: reader.target, body: reader.takeBody()))
                guard reader.keepsAlive else { return found }
                reader.next()
            }
        }
        return found
    }
}

/// Bodies of requests, and answers as the command line reads them.
struct JSONTarget: FuzzTarget {
    static let name = "json"

    func read(_ bytes: [UInt8]) {
        let value: JSONValue
        do throws(JSONFault) { value = try JSONValue(parsing: bytes) } catch { return }
        do throws(JSONFault) {
            let again = try JSONValue(parsing: value.bytes)
            promise(again.bytes == value.bytes, "what is written is read as written")
        } catch {
            broken("what is written is read: \(error)")
        }
    }
}
