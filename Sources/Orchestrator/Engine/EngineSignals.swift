import CProcess
import EventLoop
import Glibc

/// The signals we ourselves obey.
///
/// One that was ignored when we were started stays ignored, as `nohup` wants it. SIGHUP means that
/// the terminal is gone, a stop, if we were started on one; without one it means reload.
final class EngineSignals {
    /// What a signal asks for.
    enum Wish: Hashable {
        case stop(Int32)
        case reload
    }

    private var watches: [SignalWatch] = []
    private let numbers: [Int32]

    init(_ loop: Loop, _ hear: @escaping (Wish) -> Void) throws(UVError) {
        signal(SIGPIPE, SIG_IGN)
        // A caller may have blocked what we are to obey.
        cproc_clear_signal_mask()
        numbers = [SIGTERM, SIGINT, SIGHUP, SIGQUIT].filter { !Self.isIgnored($0) }
        // Looked at now: the kernel takes a terminal that hangs up from its whole session first,
        // and sends the signal then.
        let hangup: Wish = Self.hasTerminal() ? .stop(SIGHUP) : .reload
        for number in numbers {
            let wish = number == SIGHUP ? hangup : .stop(number)
            watches.append(try SignalWatch(loop, signal: number) { hear(wish) })
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        // SIGTERM ends us even when our starter ignored it: a supervisor that cannot be stopped by
        // its own manager would have to be killed.
        guard number != SIGTERM else { return false }
        // SAFETY: the kernel fills the action; handlers are compared as numbers, and not called.
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return unsafe handler == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Whether we have a controlling terminal, dead or alive.
    private static func hasTerminal() -> Bool {
        // SAFETY: the path is a constant.
        let descriptor = unsafe open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == EIO }
        close(descriptor)
        return true
    }

    /// Ends it. One more Ctrl-C now finds nobody to ask: it must not end us by its default action
    /// before we have said how everything ended.
    func close() {
        for number in numbers { signal(number, SIG_IGN) }
        for watch in watches { watch.close() }
        for number in numbers { signal(number, SIG_IGN) }
        watches = []
    }

    private static func close(_ descriptor: CInt) { Glibc.close(descriptor) }
}
