import Glibc

/// A moment of the monotonic clock, which the puppets read too.
enum Moment {
    static var now: Duration {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

enum Polling {
    /// Waits until one of the descriptors has something to say, at most `limit`. The wait has a
    /// thread of its own: the tests' cooperative pool has few, and a blocked one fires no deadline.
    static func wait(for descriptors: [CInt], atMost limit: Duration) async {
        let milliseconds = Int32(min(max(limit / .milliseconds(1), 0), 3_600_000).rounded(.up))
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            run {
                var watched = descriptors.map {
                    pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
                }
                let count = nfds_t(watched.count)
                _ = unsafe poll(&watched, count, milliseconds)
                done.resume()
            }
        }
    }

    /// Runs what waits on a thread of its own: all cases share one, and wait for it.
    static func away<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        await withCheckedContinuation { (done: CheckedContinuation<R, Never>) in
            run { done.resume(returning: body()) }
        }
    }

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own.
    static func run(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(Work(body)).toOpaque()
        let result = unsafe pthread_create(
            &thread, nil,
            { context in
                if let context = unsafe context {
                    unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
                }
                return unsafe UnsafeMutableRawPointer(bitPattern: 0)
            }, context)
        precondition(result == 0, "cannot start a thread: error \(result)")
        pthread_detach(thread)
    }
}
