import EventLoop
import Glibc
import Stoic
import Synchronization

/// The thread that owns the child processes of this program: one, begun by the first of them, and
/// there until the program ends.
///
/// It does not need the pool of tasks: processes are stopped in time although every task hangs.
final class ProcessThread: Sendable {
    /// What tasks ask of it. At most three for each start of a program.
    enum Order: Sendable {
        case start(ProcessLife)
        case stop(ProcessLife, reason: String, within: Duration)
        /// SIGKILL now.
        case force(ProcessLife)

        var life: ProcessLife {
            switch self {
            case .start(let life), .stop(let life, _, _), .force(let life): life
            }
        }
    }

    private enum Phase {
        /// The loop does not run yet.
        case beginning
        case running(WakeupHandle)
        case failed(ProcessFailure)
    }

    private struct State {
        var phase = Phase.beginning
        var orders: [Order] = []
    }

    static let shared = ProcessThread()

    private let state = Mutex(State())

    private init() {
        var thread = pthread_t()
        // SAFETY: the thread takes over the one retain; where it was not started, it is released
        // here.
        let box = unsafe Unmanaged.passRetained(self)
        let result = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<ProcessThread>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            unsafe box.release()
            fail(.cannotWatch("no thread can be started: error \(result)"))
            return
        }
        pthread_detach(thread)
    }

    /// Hands an order over. Never waits.
    func post(_ order: Order) {
        let (wakeup, failure): (WakeupHandle?, ProcessFailure?) = state.withLock { state in
            switch state.phase {
            case .beginning:
                state.orders.append(order)
                return (nil, nil)
            case .running(let wakeup):
                state.orders.append(order)
                return (wakeup, nil)
            case .failed(let failure): return (nil, failure)
            }
        }
        wakeup?.wake()
        if let failure { order.life.fail(failure) }
    }

    /// What was ordered since the last call.
    func takeOrders() -> [Order] {
        state.withLock { state in
            defer { state.orders = [] }
            return state.orders
        }
    }

    private func run() {
        // Worker threads begin with signals blocked; this one is told of the ends of children.
        // SAFETY: the C functions fill and read a set of ours, and keep no pointer to it.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGCHLD)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        do {
            let host = try ProcessHost(self)
            state.withLock { $0.phase = .running(host.wakeup) }
            fail(host.run())
        } catch {
            fail(.cannotWatch("\(error)"))
        }
    }

    private func fail(_ failure: ProcessFailure) {
        let orders = state.withLock { state in
            defer { state.orders = [] }
            state.phase = .failed(failure)
            return state.orders
        }
        for order in orders { order.life.fail(failure) }
    }
}
