import Glibc
import Stoic
import StoicSubprocess
import Synchronization

/// A service that lives in this process.
final class Journal: Sendable {
    private let lines = Mutex(0)

    func note(_ line: String) {
        lines.withLock { $0 += 1 }
        say("journal: \(line)")
    }

    func close() { say("journal: closed after \(lines.withLock { $0 }) lines") }
}

/// A client of the daemon: what it needs to know, the daemon sent along with READY.
struct ClockClient: Sendable {
    private let port: UInt16
    private let journal: Journal

    struct NoAddress: Error {}
    struct NoAnswer: Error { let number: Int32 }

    init(_ daemon: ChildProcess, _ journal: Journal) throws {
        guard let address = daemon.values["address"],
            let port = address.split(separator: ":").last.flatMap({ UInt16($0) })
        else { throw NoAddress() }
        self.port = port
        self.journal = journal
        journal.note("the daemon listens on \(address)")
    }

    /// Asks for the time. A call to this machine, and short: a real client would not block a thread
    /// of the pool at all.
    func ask() async throws {
        let text = try await retry(.spaced(.milliseconds(50)), attempts: 5) { _ in try connect() }
        journal.note("the daemon says \(text)")
    }

    private func connect() throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw NoAnswer(number: errno) }
        defer { Glibc.close(descriptor) }
        var limit = timeval(tv_sec: 1, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(
                    descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw NoAnswer(number: errno) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        guard count > 0 else { throw NoAnswer(number: errno) }
        return String(decoding: bytes.prefix(count).prefix { $0 != 10 }, as: UTF8.self)
    }

    func close() { journal.note("the client is closed") }
}
