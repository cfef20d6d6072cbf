import CUV

/// Catches one signal of this process (`uv_signal`) for as long as it is open.
///
/// Several watches of one signal each get it; when the last closes, the default action is back.
/// Signals that come faster than the loop turns may arrive as one.
public final class SignalWatch {
    private let loop: Loop
    private let box: HandleBox

    /// Starts catching `signal`; `react` runs on the loop's thread, never in a signal handler.
    ///
    /// - Throws: `EINVAL` for a signal that nobody can catch, such as `SIGKILL`.
    public init(_ loop: Loop, signal: CInt, _ react: @escaping () -> Void) throws(UVError) {
        demand(loop.isOpen, "cannot catch signal \(signal): the loop is closed")
        self.loop = loop
        // SAFETY: the box owns the handle until libuv has closed it, and this object keeps the
        // loop.
        box = try unsafe HandleBox(
            of: uv_signal_t.self, call: "uv_signal_init",
            initialize: { unsafe uv_signal_init(loop.pointer, $0) }, react: { _, _ in react() })
        let result = unsafe uv_signal_start(box.handle(as: uv_signal_t.self), signalled, signal)
        guard result >= 0 else {
            box.close()
            throw UVError(code: result, call: "uv_signal_start")
        }
    }

    /// Stops catching; `react` never runs afterwards. Idempotent.
    public func close() { box.close() }

    deinit { box.close() }
}

private func signalled(_ handle: UnsafeMutablePointer<uv_signal_t>?, _ signal: CInt) {
    // SAFETY: libuv calls back with a handle that is open, whose data is its box.
    guard let handle = unsafe handle else {
        fatalError("a signal callback came without its handle")
    }
    unsafe HandleBox.of(handle.pointee.data).react(0, signal)
}
