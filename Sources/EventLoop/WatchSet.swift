import CProcess
import CUV

/// What all watches of a loop wait on: one epoll set, itself a single handle of libuv (decision
/// 0046).
@safe final class WatchSet {
    private struct Slot {
        unowned var watch: Watch?
        /// Tells a watch from an earlier one in the same slot: what is due may be for that one.
        var generation: UInt32
    }

    private unowned let loop: Loop
    /// A loop that has watches lives as long as they do.
    private var heldLoop: Loop?
    private let set: OwnedDescriptor
    private let ready: UnsafeMutablePointer<cproc_ready>
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var waiting = 0
    /// Until `close()`.
    private var handle: HandleBox?

    /// - Throws: `EMFILE`, `ENFILE` or `ENOMEM`; nothing stays open.
    init(_ loop: Loop) throws(UVError) {
        let number = cproc_ready_set()
        guard number >= 0 else { throw UVError(code: number, call: "epoll_create1") }
        self.loop = loop
        set = OwnedDescriptor(owning: number)
        // SAFETY: the memory is freed in `deinit` alone, after the box is closed; the box owns its
        // handle, and libuv calls back with a handle whose data is its box.
        unsafe ready = .allocate(capacity: Int(CPROC_READY_LIMIT))
        do throws(UVError) {
            let box = try unsafe HandleBox(
                of: uv_poll_t.self, call: "uv_poll_init",
                initialize: { unsafe uv_poll_init(loop.pointer, $0, number) },
                react: { [unowned self] _, _ in tell() })
            handle = box
            unsafe uv_poll_start(box.handle(as: uv_poll_t.self), Int32(UV_READABLE.rawValue)) {
                handle, status, events in
                guard let handle = unsafe handle else { fatalError("a callback without handle") }
                unsafe HandleBox.of(handle.pointee.data).react(status, events)
            }
            try loop.makeRoom(for: number)
            hold()
        } catch {
            // What is not a handle ends with this.
            handle?.close()
            throw error
        }
    }

    // SAFETY: `init` allocated it, and nobody else has it.
    deinit { unsafe ready.deallocate() }

    /// The labels of all watches that nobody closed.
    var labels: [String] { slots.compactMap { $0.watch?.label } }

    /// A place for a watch, until `remove`.
    func add(_ watch: Watch) -> Int {
        heldLoop = loop
        if let slot = freeSlots.popLast() {
            slots[slot].watch = watch
            return slot
        }
        slots.append(Slot(watch: watch, generation: 0))
        return slots.count - 1
    }

    func remove(_ slot: Int) {
        slots[slot].watch = nil
        slots[slot].generation &+= 1
        freeSlots.append(slot)
        guard freeSlots.count == slots.count else { return }
        // It may end with this, and closes its set.
        withExtendedLifetime(heldLoop) { heldLoop = nil }
    }

    /// Has the kernel wait for something. Only this needs room in the kernel, and can fail.
    /// - Returns: 0 or an error number.
    func begin(_ slot: Int, _ descriptor: CInt, _ interest: Interest) -> CInt {
        let error = cproc_ready_begin(set.number, descriptor, interest.kernelEvents, tag(of: slot))
        if error == 0, !interest.isEmpty { waiting += 1 }
        hold()
        return error
    }

    /// Has the kernel wait for something else. A descriptor for which it waits for nothing stays
    /// in the set, so that coming back cannot fail; it may tell once of an error that it has.
    /// - Returns: 0 or an error number.
    func change(_ slot: Int, _ descriptor: CInt, from old: Interest, to new: Interest) -> CInt {
        let error = cproc_ready_change(set.number, descriptor, new.kernelEvents, tag(of: slot))
        // What was closed before its watch is in no set any more.
        guard error == 0 || new.isEmpty else { return error }
        waiting += (new.isEmpty ? 0 : 1) - (old.isEmpty ? 0 : 1)
        hold()
        return 0
    }

    /// Has the kernel wait no longer.
    func end(_ descriptor: CInt, _ interest: Interest) {
        cproc_ready_end(set.number, descriptor)
        if !interest.isEmpty { waiting -= 1 }
        hold()
    }

    private func tag(of slot: Int) -> UInt64 {
        UInt64(slots[slot].generation) << 32 | UInt64(UInt32(slot))
    }

    /// Ends the handle. The set itself ends with its last owner, after libuv let go of it.
    func close() {
        handle?.close()
        handle = nil
    }

    /// The loop runs on as long as a watch waits for something.
    private func hold() {
        guard let handle else { return }
        // SAFETY: every handle of libuv begins with the common part, and the box is open.
        let untyped = unsafe handle.handle(as: uv_handle_t.self)
        if waiting > 0 { unsafe uv_ref(untyped) } else { unsafe uv_unref(untyped) }
    }

    private func tell() {
        // SAFETY: there is room for as many as it takes at most, and it says how many it wrote.
        let count = unsafe cproc_ready_take(set.number, ready)
        for index in 0..<Int(count) {
            let one = unsafe ready[index]
            let slot = slots[Int(one.tag & 0xFFFF_FFFF)]
            guard slot.generation == UInt32(one.tag >> 32), let watch = slot.watch else { continue }
            watch.becameReady(one.events)
        }
    }
}

extension Interest {
    fileprivate static let kernelEvents: [(Interest, UInt32)] = [
        (.readable, UInt32(CPROC_READABLE)), (.writable, UInt32(CPROC_WRITABLE)),
        (.disconnect, UInt32(CPROC_DISCONNECT)), (.priority, UInt32(CPROC_PRIORITY)),
    ]

    /// As epoll numbers them.
    fileprivate var kernelEvents: UInt32 {
        Self.kernelEvents.reduce(0) { contains($1.0) ? $0 | $1.1 : $0 }
    }

    /// What a watch with this interest is told of what the kernel saw.
    ///
    /// An error alone (`EPOLLERR`; with `EPOLLPRI` it means a change of a kernel file) is
    /// everything and `.disconnect`: only the next read or write can say what it is. A hang-up
    /// alone is everything: the end is found by reading.
    func told(_ events: UInt32) -> Interest {
        let priority = events & UInt32(CPROC_PRIORITY) != 0
        if events & UInt32(CPROC_ERROR) != 0, !priority { return union(.disconnect) }
        let seen = Self.kernelEvents.reduce(into: Interest()) {
            if events & $1.1 != 0 { $0.insert($1.0) }
        }
        let told = seen.intersection(self)
        return told.isEmpty && events & UInt32(CPROC_HANGUP) != 0 ? self : told
    }
}
