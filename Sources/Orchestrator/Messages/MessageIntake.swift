import CLifecycle
import EventLoop
import Glibc
import Stoic

/// What a notify socket and a control channel have in common: datagrams taken from one descriptor,
/// a bounded number at a time, turned into messages and reported.
///
/// It does not own the descriptor.
final class MessageIntake {
    /// The datagrams of one wake. What is left makes the loop wake again, after everybody else had
    /// a turn.
    static let perWake = 32
    /// The datagrams of a drain. The kernel queues far fewer; only a sender that goes on during
    /// the drain reaches this.
    static let perDrain = 1024

    /// The messages of one window that are acted on, of those that each leave a record of an event:
    /// no service may write the history of all.
    static let mostLoud = 100

    /// What a round of reading ended with.
    enum End: Hashable {
        /// Nothing is left for now, or the round is full.
        case later
        /// The other end is closed, or reading failed for good.
        case over
    }

    /// Who sent a message, by the kernel's word.
    struct Sender: Hashable {
        /// 0 where it is out of our sight, in another pid namespace.
        let pid: pid_t
        let uid: uid_t
    }

    private let loop: Loop
    private let onMessage: (ServiceMessage) -> Void
    private var reader: MessageReader
    private var gate = RefusalGate()
    private var loudGate = RefusalGate(most: MessageIntake.mostLoud)
    private var isClosed = false

    init(
        _ loop: Loop, isMember: @escaping (Int32) -> Bool,
        onMessage: @escaping (ServiceMessage) -> Void
    ) {
        self.loop = loop
        self.onMessage = onMessage
        let own = getpid()
        reader = MessageReader { $0 != own && isMember($0) }
    }

    /// Takes at most `limit` datagrams. `objection` says why a sender is not heard, if it is not.
    func take(
        _ limit: Int, from descriptor: CInt, objection: (Sender) -> String?
    ) -> End {
        for _ in 0..<limit {
            // A message may have made our owner close us.
            guard !isClosed else { return .later }
            // SAFETY: a datagram that was filled points to a buffer that lives until the next is
            // received.
            var datagram = unsafe clc_datagram()
            let result = unsafe clc_receive(descriptor, &datagram)
            guard result != 0 else { return .later }
            guard result > 0 else { return end(after: -result) }
            if unsafe datagram.ended { return .over }
            let sender = unsafe Sender(pid: datagram.pid, uid: datagram.uid)
            unsafe hear(datagram, objection(sender))
        }
        return .later
    }

    /// Reports the refusals nobody was told about. Nothing is reported afterwards.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        let suppressed = gate.takeSuppressed()
        guard suppressed > 0 else { return }
        let reason = "more of the same"
        onMessage(.refused(reason: reason, pid: 0, suppressed: suppressed - 1))
    }

    private func hear(_ datagram: clc_datagram, _ objection: String?) {
        // SAFETY: the bytes are as many as is told, and are read before another datagram is
        // received.
        let pid = unsafe datagram.pid
        if let objection {
            refuse(objection, pid)
            return
        }
        if unsafe datagram.truncated {
            refuse("a message of more than \(CLC_DATAGRAM_MAX) bytes", pid)
            return
        }
        let bytes = unsafe UnsafeRawBufferPointer(start: datagram.bytes, count: datagram.length)
        // The findings are values: the buffer may be used again while they are reported.
        for finding in unsafe reader.read(bytes) where !isClosed {
            switch finding {
            case .message(let message):
                guard !message.isLoud || loudGate.admit(at: loop.now.awake) != nil else {
                    let most = "\(Self.mostLoud) within \(RefusalGate.window.words)"
                    refuse("more than \(most) that change or record something", pid)
                    continue
                }
                onMessage(message)
            case .refusal(let reason): refuse(reason, pid)
            }
        }
    }

    private func refuse(_ reason: String, _ pid: Int32) {
        guard let suppressed = gate.admit(at: loop.now.awake) else { return }
        let text = withoutControlCharacters(String(reason.prefix(200)))
        onMessage(.refused(reason: text, pid: pid, suppressed: suppressed))
    }

    private func end(after number: Int32) -> End {
        switch number {
        // The system is short of memory; what was sent waits.
        case ENOMEM, ENOBUFS: return .later
        // Unix sockets say this once of a peer that closed with unread messages of ours.
        case ECONNRESET: return .over
        default:
            refuse("cannot read: \(SystemError.meaning(of: number))", 0)
            return .over
        }
    }
}
