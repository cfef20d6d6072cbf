import EventLoop
import Glibc

/// A newline on a pipe whose other end the service holds, as s6 daemons send it. What comes before
/// the newline means nothing; an end of file before it is not a notification.
final class DescriptorCheck: ReadinessCheck {
    /// The bytes read in one turn; a writer that never ends its line must not hold the loop.
    private static let perTurn = 16

    private enum State {
        /// Our end is there, and watched once it began.
        case open(CInt, Watch?)
        case closed
    }

    private(set) var missing: String
    private let loop: Loop
    private let number: Int32
    private let onMet: () -> Void
    private var state = State.closed

    /// Owns `descriptor`, our end.
    init(
        _ context: ReadinessContext, _ number: Int32, _ descriptor: CInt?,
        _ onMet: @escaping () -> Void
    ) {
        loop = context.loop
        self.number = number
        self.onMet = onMet
        missing = "no newline on descriptor \(number) yet"
        if let descriptor {
            state = .open(descriptor, nil)
        } else {
            missing = "no pipe was made for descriptor \(number)"
        }
    }

    func begin() {
        guard case .open(let descriptor, _) = state else { return }
        do {
            let watch = try Watch(loop, descriptor: descriptor, interest: .readable) {
                [weak self] _ in
                self?.read(limit: Self.perTurn)
            }
            state = .open(descriptor, watch)
        } catch {
            close()
            missing = "cannot watch descriptor \(number): \(error)"
        }
    }

    func note(_ fact: ReadinessFact) {
        // A pipe holds at most 64 KiB unless it was told otherwise: 16 reads of 4 KiB.
        if fact == .drained { read(limit: 17) }
    }

    func close() {
        guard case .open(let descriptor, let watch) = state else { return }
        state = .closed
        watch?.close()
        closeDescriptor(descriptor)
    }

    private func read(limit: Int) {
        guard case .open(let descriptor, _) = state else { return }
        var bytes = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<limit {
            // SAFETY: the call is told how much room the array has.
            let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
            if count < 0 && errno == EINTR { continue }
            if count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) { return }
            guard count > 0 else {
                close()
                missing = "it closed descriptor \(number) without a newline"
                return
            }
            if bytes[..<count].contains(UInt8(ascii: "\n")) {
                close()
                onMet()
                return
            }
        }
    }
}
