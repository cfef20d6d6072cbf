import CLifecycle
package import EventLoop
import Glibc

/// The socket named in `NOTIFY_SOCKET` of one incarnation, as of sd_notify(3).
///
/// It is bound before the launch, so that nothing a service says can be lost, under a name nobody
/// can guess: that name is what vouches for a sender that has ended before it was heard. A living
/// sender must be a process of the incarnation, by the kernel's word. Who the service is depends on
/// nothing else, since every incarnation has a socket of its own.
///
/// Used on the loop's thread only. `onMessage` may close it.
package final class NotifySocket {
    /// The length of the random name, in bytes.
    static let nameLength = 20

    private enum State {
        case open(CInt, Watch?)
        case closed
    }

    /// Where it is, for `NOTIFY_SOCKET`. Put together when asked for: the directory is shared.
    package var path: String { "\(directory)/\(name)" }
    private let directory: String
    private let name = NotifySocket.randomName()
    private let owner: UInt32
    private let isMember: (Int32) -> Bool
    private let intake: MessageIntake
    private var state = State.closed

    /// Binds a socket with a new name in `directory`, which should be one nobody else can list.
    /// - Parameters:
    ///   - owner: The user the service runs as; the socket becomes its own, mode 0600.
    ///   - isMember: Whether a process belongs to the incarnation. Asked on the loop's thread; it
    ///     must not wait.
    package init(
        _ loop: Loop, directory: String, owner: UInt32, isMember: @escaping (Int32) -> Bool,
        onMessage: @escaping (ServiceMessage) -> Void
    ) throws(MessageError) {
        self.directory = directory
        self.owner = owner
        self.isMember = isMember
        intake = MessageIntake(loop, isMember: isMember, onMessage: onMessage)
        guard path.utf8.count <= Int(CLC_PATH_MAX) else { throw .pathTooLong(path) }
        // SAFETY: the path is a text of ours, which lives through the call.
        let descriptor = unsafe clc_bind_notify(path, owner)
        guard descriptor >= 0 else { throw .system("bind the socket \(path)", -descriptor) }
        state = .open(descriptor, nil)
        do {
            let watch = try Watch(loop, descriptor: descriptor, interest: .readable) {
                [unowned self] _ in
                take(MessageIntake.perWake)
            }
            state = .open(descriptor, watch)
        } catch {
            close()
            throw .loop(error)
        }
    }

    deinit { close() }

    /// Whether sockets in `directory` have paths the kernel takes. Ask before anything starts.
    package static func fits(in directory: String) -> Bool {
        directory.utf8.count + 1 + nameLength <= Int(CLC_PATH_MAX)
    }

    /// Hears what was sent so far. For when the main process has ended: what it said comes before
    /// its end. Bounded by `MessageIntake.perDrain` datagrams.
    package func drain() { take(MessageIntake.perDrain) }

    /// Ends it and removes it from its directory. Nothing is heard afterwards, except a last count
    /// of refusals. May be called again.
    package func close() {
        guard case .open(let descriptor, let watch) = state else { return }
        state = .closed
        watch?.close()
        Glibc.close(descriptor)
        // SAFETY: the path is a text of ours, which lives through the call.
        unsafe unlink(path)
        intake.close()
    }

    private func take(_ limit: Int) {
        guard case .open(let descriptor, let watch) = state else { return }
        // A flood comes from one process: it is looked up once a round.
        var known: (sender: MessageIntake.Sender, objection: String?)?
        let end = intake.take(limit, from: descriptor) { sender in
            if let known, known.sender == sender { return known.objection }
            let objection = self.objection(to: sender)
            known = (sender, objection)
            return objection
        }
        // A socket that cannot be read must not wake the loop for ever.
        if end == .over, case .open = state {
            watch?.close()
            state = .open(descriptor, nil)
        }
    }

    /// Why this sender is not heard; `nil` if it is.
    private func objection(to sender: MessageIntake.Sender) -> String? {
        let (pid, uid) = (sender.pid, sender.uid)
        guard pid > 0 else { return "a sender whose process we cannot see" }
        if isMember(pid) { return nil }
        // In this order: a process that ends between the two questions is asked about its user.
        guard clc_has_ended(pid) else { return "a process that is not of this service" }
        return uid == owner ? nil : "a process that has ended, of user \(uid) instead of \(owner)"
    }

    /// A hundred bits of the system's generator, five to a letter: ten letters for each call of it.
    private static func randomName() -> String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
        var generator = SystemRandomNumberGenerator()
        var bits: UInt64 = 0
        let letters = (0..<nameLength).map { place in
            bits = place.isMultiple(of: 10) ? generator.next() : bits >> 5
            return alphabet[Int(bits & 31)]
        }
        return String(decoding: letters, as: UTF8.self)
    }
}
