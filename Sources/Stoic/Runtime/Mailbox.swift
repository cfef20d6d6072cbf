import Synchronization

/// Messages for one task, in the order they came. Bounded by what its senders may have under way.
final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var reader: Parking<Bool>?
    }

    private let state = Mutex(State())

    /// Adds a message, and wakes the reader.
    func send(_ message: Message) {
        let reader = state.withLock { state in
            state.messages.append(message)
            defer { state.reader = nil }
            return state.reader
        }
        reader?.settle(true)
    }

    /// The next message; `nil` when `deadline` passes first. Only one task reads. Not cancelled by
    /// the cancellation of that task: its owner sends it a message.
    func next(until deadline: Deadline?) async -> Message? {
        while true {
            let parking = Parking<Bool>()
            let message: Message? = state.withLock { state in
                guard state.messages.isEmpty else { return state.messages.removeFirst() }
                state.reader = parking
                return nil
            }
            if let message { return message }
            guard await wait(at: parking, until: deadline) else {
                return state.withLock { state in
                    state.reader = nil
                    return state.messages.isEmpty ? nil : state.messages.removeFirst()
                }
            }
        }
    }

    private func wait(at parking: Parking<Bool>, until deadline: Deadline?) async -> Bool {
        let site = Site("the next message")
        guard let deadline else { return await parking.value(at: site) }
        let timer = spawn {
            guard await deadline.sleep() else { return }
            parking.settle(false)
        }
        defer { timer.cancel() }
        return await parking.value(at: site)
    }
}
