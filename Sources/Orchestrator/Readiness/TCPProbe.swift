import CLifecycle
import EventLoop
import Stoic

/// A TCP port accepts connections. Every address of the host is tried in turn, all within a limit;
/// looking its name up, unless it is numeric or `localhost`, happens on a thread
/// of its own and is bounded by the resolver.
///
/// Whoever accepts is believed to be the service: a stranger on its port is taken for it.
final class TCPProbe: ServiceProbe {
    /// The longest try, without the lookup, unless its owner says otherwise.
    static let limit = Duration.seconds(1)

    /// A try under way.
    private final class Try {
        var addresses: [clc_address]
        let completion: (ProbeOutcome) -> Void
        var connection: (CInt, Watch)?
        var limit: TimerTable.Token?
        var lastFailure = ProbeOutcome.notRun("no address")

        init(_ addresses: [clc_address], _ completion: @escaping (ProbeOutcome) -> Void) {
            self.addresses = addresses
            self.completion = completion
        }
    }

    private enum State {
        case idle
        /// A lookup cannot be taken back: its answer is compared with the number it was asked
        /// under.
        case lookingUp(Int, (ProbeOutcome) -> Void)
        case connecting(Try)
    }

    private let loop: Loop
    private let timers: TimerTable
    private let host: String
    private let port: UInt16
    private let limit: Duration
    private var state = State.idle
    private var lookups = 0

    init(
        _ context: ReadinessContext, host: String, port: UInt16, limit: Duration = TCPProbe.limit
    ) {
        loop = context.loop
        timers = context.timers
        self.host = host
        self.port = port
        self.limit = limit
    }

    func attempt(_ completion: @escaping (ProbeOutcome) -> Void) {
        let numeric = Self.addresses(host, port, lookup: false)
        guard numeric.count == 0 else { return connect(numeric, completion) }
        lookups += 1
        let number = lookups
        state = .lookingUp(number, completion)
        let (host, port) = (host, port)
        do {
            try queueWork(loop, { Self.addresses(host, port, lookup: true) }) { [weak self] found in
                self?.lookedUp(number, found)
            }
        } catch {
            finish(.notRun("cannot look up \(host): \(error)"))
        }
    }

    func cancel() {
        if case .connecting(let current) = state { release(current) }
        state = .idle
    }

    private static func addresses(_ host: String, _ port: UInt16, lookup: Bool) -> clc_addresses {
        var found = clc_addresses()
        // SAFETY: the name lives through the call, which fills a variable of the size it expects.
        unsafe clc_find_addresses(host, port, lookup, &found)
        return found
    }

    private func lookedUp(_ number: Int, _ found: clc_addresses) {
        guard case .lookingUp(number, let completion) = state else { return }
        guard found.count > 0 else {
            // SAFETY: the text is a constant of the C library.
            let words = unsafe String(cString: clc_lookup_text(found.failure))
            return finish(.notRun("cannot look up \(host): \(words)"))
        }
        connect(found, completion)
    }

    private func connect(_ found: clc_addresses, _ completion: @escaping (ProbeOutcome) -> Void) {
        // SAFETY: the list is an array of addresses, as many as is told, and they are copied in the
        // closure.
        let list = unsafe withUnsafeBytes(of: found.list) { bytes in
            unsafe Array(bytes.bindMemory(to: clc_address.self).prefix(Int(found.count)))
        }
        let current = Try(list, completion)
        state = .connecting(current)
        current.limit = timers.after(limit) { [weak self] in
            guard let self else { return }
            finish(.failed("\(name): no answer within \(limit.words)"))
        }
        connectToNext(current)
    }

    private func connectToNext(_ current: Try) {
        while !current.addresses.isEmpty {
            var address = current.addresses.removeFirst()
            // SAFETY: the call only reads the address.
            let descriptor = unsafe clc_begin_connect(&address)
            guard descriptor >= 0 else {
                current.lastFailure = failure(-descriptor)
                continue
            }
            do {
                let watch = try Watch(loop, descriptor: descriptor, interest: .writable) {
                    [weak self] _ in
                    self?.connected(current)
                }
                current.connection = (descriptor, watch)
                return
            } catch {
                closeDescriptor(descriptor)
                current.lastFailure = .notRun("\(name): \(error)")
            }
        }
        finish(current.lastFailure)
    }

    private func connected(_ current: Try) {
        guard let (descriptor, _) = current.connection else { return }
        let outcome = clc_connect_outcome(descriptor)
        closeConnection(of: current)
        guard outcome < 0 else { return finish(.passed) }
        current.lastFailure = failure(-outcome)
        connectToNext(current)
    }

    private func failure(_ number: CInt) -> ProbeOutcome {
        .of(errno: number, "\(name): \(SystemError.meaning(of: number))")
    }

    private func finish(_ outcome: ProbeOutcome) {
        switch state {
        case .idle: return
        case .lookingUp(_, let completion):
            state = .idle
            completion(outcome)
        case .connecting(let current):
            release(current)
            state = .idle
            current.completion(outcome)
        }
    }

    private func release(_ current: Try) {
        timers.cancel(current.limit)
        closeConnection(of: current)
        current.addresses = []
    }

    private func closeConnection(of current: Try) {
        guard let (descriptor, watch) = current.connection else { return }
        current.connection = nil
        watch.close()
        closeDescriptor(descriptor)
    }

    private var name: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// A Unix socket, of whatever type, accepts connections.
final class UnixProbe: ServiceProbe {
    private let path: String

    init(path: String) { self.path = path }

    func attempt(_ completion: @escaping (ProbeOutcome) -> Void) {
        // SAFETY: the path is a text of ours, which lives through the call.
        let result = unsafe clc_try_unix(path)
        guard result != 0 else { return completion(.passed) }
        completion(.of(errno: -result, "\(path): \(SystemError.meaning(of: -result))"))
    }

    func cancel() {}
}
