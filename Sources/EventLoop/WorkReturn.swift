import CUV
import Synchronization

/// Where the threads of the pool leave work that is done, for its loop to take.
final class WorkReturn {
    /// What the threads hold of it. It may outlive the loop.
    let shelf: Shelf
    private let box: HandleBox

    /// Work that is done, by address: a request is not `Sendable`, and its thread has let go of it.
    final class Shelf: Sendable {
        private let done = Mutex<[UInt]>([])
        private let handle: WakeupHandle

        fileprivate init(_ handle: WakeupHandle) { self.handle = handle }

        /// On a thread of the pool.
        func leave(_ request: UInt) {
            done.withLock { $0.append(request) }
            handle.wake()
        }

        fileprivate func take() -> [UInt] {
            done.withLock { done in
                defer { done = [] }
                return done
            }
        }

        fileprivate func disarm() { handle.disarm() }
    }

    init(_ loop: Loop) throws(UVError) {
        // SAFETY: the box owns the handle, and the loop lives at least until the box is closed.
        var take: () -> Void = {}
        box = try unsafe HandleBox(
            of: uv_async_t.self, call: "uv_async_init",
            initialize: { unsafe uv_async_init(loop.pointer, $0, woken) }, react: { _, _ in take() }
        )
        let shelf = unsafe Shelf(WakeupHandle(box.handle(as: uv_async_t.self)))
        self.shelf = shelf
        take = { for request in shelf.take() { finishWork(request) } }
        hold(false)
    }

    /// Whether it keeps the loop running.
    func hold(_ holds: Bool) {
        // SAFETY: every handle of libuv begins with the common part, and the box keeps it.
        let untyped = unsafe box.handle(as: uv_handle_t.self)
        if holds { unsafe uv_ref(untyped) } else { unsafe uv_unref(untyped) }
    }

    /// First the handle: once `disarm` returns, no thread is inside libuv or can get there.
    func close() {
        shelf.disarm()
        box.close()
    }
}
