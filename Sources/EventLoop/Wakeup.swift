import CUV
import Synchronization

/// Lets other threads wake the loop (`uv_async`).
///
/// It carries nothing: put the message behind a `Mutex` first, then wake. Wakes that come faster
/// than the loop turns are one; `react` runs at least once after the last of them. It keeps the
/// loop running until `close()`. Dropped without `close()`, it closes itself.
public final class Wakeup {
    private let loop: Loop
    private let box: HandleBox
    /// What other threads get. It may outlive this object and the loop.
    public let handle: WakeupHandle

    /// A wakeup whose `react` runs on the loop's thread.
    ///
    /// - Throws: when the loop has no descriptor left for its first wakeup (`EMFILE`, `ENFILE`).
    public init(_ loop: Loop, _ react: @escaping () -> Void) throws(UVError) {
        demand(loop.isOpen, "cannot make a wakeup: the loop is closed")
        self.loop = loop
        // SAFETY: the box owns the handle until libuv has closed it, and this object keeps the
        // loop.
        box = try unsafe HandleBox(
            of: uv_async_t.self, call: "uv_async_init",
            initialize: { unsafe uv_async_init(loop.pointer, $0, woken) },
            react: { _, _ in react() })
        handle = unsafe WakeupHandle(box.handle(as: uv_async_t.self))
    }

    /// Ends it; `react` never runs afterwards, and `wake()` does nothing. Idempotent.
    public func close() {
        // First the handle: once `disarm` returns, no thread is inside libuv or can get there.
        handle.disarm()
        box.close()
    }

    deinit { close() }
}

/// Wakes a loop from any thread, for as long as its `Wakeup` is open.
public final class WakeupHandle: Sendable {
    /// The address of the libuv handle, as a number, because a pointer is not `Sendable`: the lock
    /// is what makes sharing it right. `nil` once the handle may be gone.
    private let target: Mutex<UInt?>

    init(_ handle: UnsafeMutablePointer<uv_async_t>) {
        target = Mutex(UInt(bitPattern: handle))
    }

    /// Has the loop run the wakeup's `react` soon. Never waits for the loop. After the wakeup was
    /// closed: nothing. Takes a lock, so it must not be called from a signal handler.
    public func wake() {
        target.withLock { address in
            guard let address else { return }
            // SAFETY: under the lock `disarm` waits for, so the handle is not closed; libuv allows
            // this call from any thread.
            let result = unsafe uv_async_send(UnsafeMutablePointer(bitPattern: address))
            demand(result == 0, "cannot wake the loop: uv_async_send answered \(result)")
        }
    }

    func disarm() { target.withLock { $0 = nil } }
}

func woken(_ handle: UnsafeMutablePointer<uv_async_t>?) {
    // SAFETY: libuv calls back with a handle that is open, whose data is its box.
    guard let handle = unsafe handle else { fatalError("a wakeup came without its handle") }
    unsafe HandleBox.of(handle.pointee.data).react(0, 0)
}
