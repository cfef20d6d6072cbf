import CUV

/// One libuv handle: its memory, its place in the loop, and the closure that reacts to it.
///
/// libuv reads a handle until its close callback, so the box keeps itself alive until then (a
/// retain in the handle's `data`) and frees the memory there, whoever let go of it before. The
/// reaction is dropped in `close()` already: it never runs afterwards, and a cycle through what it
/// captured ends there.
@safe class HandleBox {
    /// What a callback hands over: libuv's status and events, or zeros where it has none.
    typealias Reaction = (_ status: CInt, _ events: CInt) -> Void

    private enum State {
        case open(Reaction)
        case closed
    }

    private let memory: UnsafeMutableRawPointer
    private var state: State

    /// Allocates a handle and has libuv initialise it.
    ///
    /// - Parameters:
    ///   - call: the C function that `initialize` calls, for the error.
    /// - Throws: what `initialize` answered; nothing stays allocated.
    init<Handle>(
        of type: Handle.Type, call: String,
        initialize: (UnsafeMutablePointer<Handle>) -> CInt, react: @escaping Reaction
    ) throws(UVError) {
        // SAFETY: the memory is of the handle's own type, is freed where libuv refuses it, and else
        // only in its close callback; the retain in its data ends there too.
        let handle = UnsafeMutablePointer<Handle>.allocate(capacity: 1)
        let result = unsafe initialize(handle)
        guard result >= 0 else {
            unsafe handle.deallocate()
            throw UVError(code: result, call: call)
        }
        unsafe memory = UnsafeMutableRawPointer(handle)
        state = .open(react)
        unsafe uv_handle_set_data(untyped, Unmanaged.passRetained(self).toOpaque())
    }

    /// What the handle is, where a loop is closed too early.
    var label: String {
        // SAFETY: the box is open, and the type says what the handle is.
        switch unsafe uv_handle_get_type(untyped) {
        case UV_ASYNC: "wakeup"
        case UV_SIGNAL: unsafe "watch of signal \(handle(as: uv_signal_t.self).pointee.signum)"
        case let type: "handle of type \(type.rawValue)"
        }
    }

    /// False from `close()` on.
    final var isOpen: Bool {
        switch state {
        case .open: true
        case .closed: false
        }
    }

    /// The handle as libuv's common part.
    private var untyped: UnsafeMutablePointer<uv_handle_t> {
        // SAFETY: every handle of libuv begins with the common part.
        unsafe memory.assumingMemoryBound(to: uv_handle_t.self)
    }

    /// The handle as what it was initialised as. Valid while the box is open.
    final func handle<Handle>(as type: Handle.Type) -> UnsafeMutablePointer<Handle> {
        // SAFETY: the caller asks for the type it gave `init`, or for the common part.
        unsafe memory.assumingMemoryBound(to: Handle.self)
    }

    /// Calls the reaction, unless the handle was closed.
    final func react(_ status: CInt, _ events: CInt) {
        guard case .open(let reaction) = state else { return }
        reaction(status, events)
    }

    /// Ends the handle; the loop frees it in its current or next turn. Again: nothing.
    final func close() {
        guard case .open(let reaction) = state else { return }
        // SAFETY: the state lets this be reached once, and the memory lives until `handleClosed`.
        // Letting go of the reaction may free its owner, which may call `close()` again: that must
        // find the state changed and nobody inside it.
        withExtendedLifetime(reaction) {
            state = .closed
            unsafe uv_close(untyped, handleClosed)
        }
    }

    // SAFETY: only libuv's close callback calls it, after its last use of the handle.
    fileprivate final func free() { unsafe memory.deallocate() }

    /// The box of a handle that libuv hands to a callback; it must have been made as a `Box`.
    static func of<Box: HandleBox>(
        _ data: UnsafeMutableRawPointer?, as type: Box.Type = HandleBox.self
    ) -> Box {
        // SAFETY: the data of every open handle is its box, which is retained until the handle is
        // closed.
        guard let data = unsafe data else { fatalError("a libuv callback came without its box") }
        return unsafe Unmanaged<Box>.fromOpaque(data).takeUnretainedValue()
    }
}

/// libuv has forgotten the handle: the one place where its memory may go.
private func handleClosed(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
    // SAFETY: libuv calls this once for each handle; it takes back the retain of `init`.
    guard let data = unsafe uv_handle_get_data(handle) else {
        fatalError("a close callback came without its box")
    }
    unsafe Unmanaged<HandleBox>.fromOpaque(data).takeRetainedValue().free()
}
