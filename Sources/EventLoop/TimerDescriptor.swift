import CUV
import Glibc

/// A one-shot timer of the kernel (timerfd(2)) on one clock, and what it is set to.
struct TimerDescriptor: ~Copyable {
    let descriptor: OwnedDescriptor
    private var deadline: Int64?

    /// A timer that is not set.
    init(clock: clockid_t) throws(UVError) {
        let number = timerfd_create(clock, CInt(TFD_CLOEXEC) | CInt(TFD_NONBLOCK))
        guard number >= 0 else { throw UVError(code: -errno, call: "timerfd_create") }
        descriptor = OwnedDescriptor(owning: number)
    }

    /// Sets the timer to a moment of its clock, in nanoseconds, or to none. One system call, and
    /// none if it is set to that already.
    mutating func set(to deadline: Int64?) {
        guard deadline != self.deadline else { return }
        self.deadline = deadline
        // An all-zero time would mean "unset"; the first nanosecond after boot is long gone anyway.
        let moment = deadline.map { max($0, 1) } ?? 0
        var setting = itimerspec()
        setting.it_value.tv_sec = Int(moment / 1_000_000_000)
        setting.it_value.tv_nsec = Int(moment % 1_000_000_000)
        // SAFETY: the kernel only reads the setting; it is not asked for the one before.
        let result = unsafe timerfd_settime(
            descriptor.number, CInt(TFD_TIMER_ABSTIME), &setting, nil)
        demand(result == 0, "cannot set a timer: errno \(errno)")
    }

    /// Takes note that the timer went off: it is not set any more and not readable.
    mutating func acknowledge() {
        var expirations: UInt64 = 0
        let size = MemoryLayout.size(ofValue: expirations)
        // SAFETY: the kernel writes at most the eight bytes of the number.
        // EAGAIN is fine: it was set anew after it went off, so it is still set.
        guard unsafe read(descriptor.number, &expirations, size) == size else { return }
        deadline = nil
    }
}
