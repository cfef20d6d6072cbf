import EventLoop
import Glibc
import Orchestrator

/// Where one program speaks to us: its notify socket, and its control channel if it has one.
struct ProcessSockets {
    private(set) var channel: ControlChannel?
    private var notify: NotifySocket?
    /// The program's end of the channel, until it was handed over.
    private(set) var childEnd: CInt?

    /// None.
    init() {}

    init(
        _ loop: Loop, directory: String, hasChannel: Bool, isMember: @escaping (Int32) -> Bool,
        onMessage: @escaping (ServiceMessage) -> Void
    ) throws(MessageError) {
        notify = try NotifySocket(
            loop, directory: directory, owner: geteuid(), isMember: isMember, onMessage: onMessage)
        guard hasChannel else { return }
        let channel = try ControlChannel(loop, isMember: isMember, onMessage: onMessage)
        self.channel = channel
        childEnd = channel.takeChildEnd()
    }

    /// For `NOTIFY_SOCKET`.
    var path: String { notify?.path ?? "" }

    /// Hears what was said so far.
    func drain() {
        notify?.drain()
        channel?.drain()
    }

    mutating func closeChildEnd() {
        if let childEnd { Glibc.close(childEnd) }
        childEnd = nil
    }

    mutating func close() {
        closeChildEnd()
        notify?.close()
        channel?.close()
    }
}
