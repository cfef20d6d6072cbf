import CLifecycle
package import EventLoop
import Glibc

/// Our end of the control channel of one incarnation: a pair of `SOCK_SEQPACKET` sockets whose
/// other end the service finds in `ORCHESTRATOR_FD`. Who holds that end is the service: nobody else
/// was given it, so senders are not asked who they are.
///
/// Used on the loop's thread only. `onMessage` may close it.
package final class ControlChannel {
    /// What became of a message to the service.
    package enum Outcome: Hashable {
        /// It waits for the service to read it.
        case sent
        /// The service does not listen: it has not said HELLO, or closed its end.
        case nobodyListens
        /// The kernel refused it: `EAGAIN` where the service has stopped reading.
        case failed(Int32)
    }

    private enum State {
        /// Not said HELLO yet.
        case quiet(CInt, Watch?)
        case listening(CInt, Watch?)
        case closed
    }

    private let intake: MessageIntake
    private let onMessage: (ServiceMessage) -> Void
    private var state = State.closed
    private var childEnd: CInt

    /// Makes the pair. Both ends are close-on-exec.
    /// - Parameter isMember: Whether a process belongs to the incarnation; asked for MAINPID.
    package init(
        _ loop: Loop, isMember: @escaping (Int32) -> Bool,
        onMessage: @escaping (ServiceMessage) -> Void
    ) throws(MessageError) {
        var ours: CInt = -1
        var theirs: CInt = -1
        // SAFETY: it fills two numbers, and keeps no pointer.
        let result = unsafe clc_make_channel(&ours, &theirs)
        self.onMessage = onMessage
        childEnd = theirs
        let relay = Relay()
        intake = MessageIntake(loop, isMember: isMember) { relay.owner?.hear($0) }
        guard result >= 0 else { throw .system("make a control channel", -result) }
        state = .quiet(ours, nil)
        relay.owner = self
        do {
            let watch = try Watch(loop, descriptor: ours, interest: .readable) { [weak self] _ in
                self?.take(MessageIntake.perWake)
            }
            state = .quiet(ours, watch)
        } catch {
            close()
            throw .loop(error)
        }
    }

    deinit { close() }

    /// The service's end. It belongs to the caller from now on: give it to the launch, then close
    /// it. -1 when it was taken before.
    package func takeChildEnd() -> CInt {
        defer { childEnd = -1 }
        return childEnd
    }

    /// Asks the service to stop.
    /// - Parameters:
    ///   - reason: Why, in words; cut at 255 bytes by the client.
    ///   - deadline: From now to SIGKILL.
    @discardableResult
    package func sendStop(reason: String, deadline: Duration) -> Outcome {
        send { message in
            message.add("STOP", number: 1)
            message.add("DEADLINE_USEC", number: deadline.messageMicroseconds)
            message.add("REASON", text: reason)
        }
    }

    /// Asks the service to read its config again.
    @discardableResult
    func sendReload() -> Outcome { send { $0.add("RELOAD", number: 1) } }

    /// Hears what was sent so far; see `NotifySocket.drain`.
    package func drain() { take(MessageIntake.perDrain) }

    /// Closes both ends, the child's if it was never taken. May be called again.
    package func close() {
        if childEnd >= 0 { Glibc.close(takeChildEnd()) }
        guard let (descriptor, watch) = open else { return }
        state = .closed
        watch?.close()
        Glibc.close(descriptor)
        intake.close()
    }

    private var open: (CInt, Watch?)? {
        switch state {
        case .quiet(let descriptor, let watch), .listening(let descriptor, let watch):
            (descriptor, watch)
        case .closed: nil
        }
    }

    private func take(_ limit: Int) {
        guard let (descriptor, watch) = open, watch != nil else { return }
        let end = intake.take(limit, from: descriptor) { _ in nil }
        guard end == .over, open != nil else { return }
        // The descriptor stays until `close`, unwatched: a closed end is readable for ever.
        watch?.close()
        state = .quiet(descriptor, nil)
        onMessage(.channelClosed)
    }

    private func hear(_ message: ServiceMessage) {
        if message == .hello, case .quiet(let descriptor, let watch) = state {
            state = .listening(descriptor, watch)
        }
        onMessage(message)
    }

    private func send(_ write: (inout OutgoingMessage) -> Void) -> Outcome {
        guard case .listening(let descriptor, _) = state else { return .nobodyListens }
        var message = OutgoingMessage()
        write(&message)
        let result = message.send(on: descriptor)
        switch -result {
        case ..<0: return .sent
        case EPIPE, ECONNRESET: return .nobodyListens
        default: return .failed(-result)
        }
    }

    /// Lets the intake, which is made before `self` may be used, reach its owner.
    private final class Relay {
        weak var owner: ControlChannel?
    }
}
