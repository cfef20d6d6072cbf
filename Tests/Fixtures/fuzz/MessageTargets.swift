import CLifecycle
import Glibc

@testable import Orchestrator

/// What services send: the lines of a message, and datagrams with descriptors as the kernel
/// delivers them.
struct MessageTarget: FuzzTarget {
    static let name = "message"
    private let ends: (ours: CInt, theirs: CInt)

    init() {
        var ours: CInt = -1
        var theirs: CInt = -1
        guard unsafe clc_make_channel(&ours, &theirs) >= 0 else { broken("there is a channel") }
        ends = (ours, theirs)
    }

    /// The first byte says how many descriptors come along.
    func read(_ bytes: [UInt8]) {
        var reader = MessageReader { $0 == 42 }
        let findings = unsafe bytes.withUnsafeBytes { unsafe reader.read($0) }
        promise(findings.count <= 257, "a message has an end")
        for finding in findings {
            switch finding {
            case .message(.status(let text)):
                promise(text == withoutControlCharacters(text), "a status drives no terminal")
            case .message(.mainPID(let pid)): promise(pid == 42, "the main process is a member")
            case .message(.ready(let values)):
                promise(values.count <= MessageReader.valuesMax, "values have a cap")
            case .message: break
            case .refusal(let reason): promise(!reason.isEmpty, "a refusal says why")
            }
        }
        guard let head = bytes.first else { return }
        deliver(Array(bytes.dropFirst()), descriptors: Int(head % 5))
    }

    /// Sends `bytes`, with a pipe's end or without, and receives them as the engine does.
    private func deliver(_ bytes: [UInt8], descriptors: Int) {
        for _ in 0..<max(descriptors, 1) {
            var pipe: [CInt] = [-1, -1]
            if descriptors > 0 {
                promise(unsafe Glibc.pipe(&pipe) == 0, "there is a pipe")
                _ = fcntl(pipe[0], F_SETFL, O_NONBLOCK)
            }
            let sent = unsafe bytes.withUnsafeBytes { bytes -> CInt in
                // Nothing at all is a message too.
                guard let start = bytes.baseAddress else {
                    return unsafe clc_send(ends.theirs, "", 0, pipe[1], 0)
                }
                return unsafe clc_send(ends.theirs, start, bytes.count, pipe[1], 0)
            }
            close(pipe[1])
            if sent == 1 { receive(bytes.count) }
            guard descriptors > 0 else { continue }
            var byte: UInt8 = 0
            promise(unsafe Glibc.read(pipe[0], &byte, 1) == 0, "no descriptor is kept")
            close(pipe[0])
        }
    }

    private func receive(_ count: Int) {
        var datagram = unsafe clc_datagram()
        promise(unsafe clc_receive(ends.ours, &datagram) == 1, "what was sent arrives")
        promise(
            unsafe datagram.length == min(count, Int(CLC_DATAGRAM_MAX)),
            "a datagram is whole, or said to be cut")
    }
}

/// What a daemon hears on its channel: the client's side of the same lines.
struct ClientTarget: FuzzTarget {
    static let name = "client"
    private let ours: CInt

    init() {
        var ends: [CInt] = [-1, -1]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends) == 0 else {
            broken("there is a channel")
        }
        ours = ends[0]
        unsafe setenv("ORCHESTRATOR_FD", "\(ends[1])", 1)
        promise(clc_open() >= 0, "the channel is opened")
        var hello = [UInt8](repeating: 0, count: 64)
        _ = unsafe Glibc.read(ours, &hello, hello.count)
    }

    func read(_ bytes: [UInt8]) {
        guard !bytes.isEmpty,
            unsafe send(ours, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0
        else { return }
        var message = clc_message()
        while unsafe clc_next(&message) == 1 {
            let kind = message.kind
            promise(kind == CLC_STOP || kind == CLC_RELOAD, "a client hears two things")
            let isEnded = unsafe withUnsafeBytes(of: message.reason) { unsafe $0.contains(0) }
            promise(isEnded, "a reason ends")
        }
    }
}
