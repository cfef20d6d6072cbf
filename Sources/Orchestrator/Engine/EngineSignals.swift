import CProcess
import EventLoop
import Glibc

/// The signals we ourselves obey.
///
/// One that was ignored when we were started stays ignored, as `nohup` wants it. SIGHUP with a
/// controlling terminal means that the terminal is gone: a stop; without one it means reload.
final class EngineSignals {
    /// What a signal asks for.
    enum Wish: Hashable {
        case stop(Int32)
        case reload
    }

    private var watches: [SignalWatch] = []
    private var watched: [Int32] = []

    init(_ loop: Loop, _ hear: @escaping (Wish) -> Void) throws(UVError) {
        signal(SIGPIPE, SIG_IGN)
        // A caller may have blocked what we are to obey.
        cproc_clear_signal_mask()
        for number in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] where !Self.isIgnored(number) {
            watches.append(
                try SignalWatch(loop, signal: number) { hear(Self.wish(number)) })
            watched.append(number)
        }
    }

    private static func wish(_ number: Int32) -> Wish {
        number == SIGHUP && !hasTerminal() ? .reload : .stop(number)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        // SIGTERM ends us even when our starter ignored it: a supervisor that cannot be stopped by
        // its own manager would have to be killed.
        guard number != SIGTERM else { return false }
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return unsafe handler == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Whether we have a controlling terminal, dead or alive.
    private static func hasTerminal() -> Bool {
        let descriptor = unsafe open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno == EIO }
        close(descriptor)
        return true
    }

    /// Ends it. One more Ctrl-C now finds nobody to ask: it must not end us by its default action
    /// before we have said how everything ended.
    func close() {
        var held = sigset_t()
        unsafe sigemptyset(&held)
        for number in watched { unsafe sigaddset(&held, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &held, nil)
        for watch in watches { watch.close() }
        for number in watched { signal(number, SIG_IGN) }
        watches = []
        watched = []
        cproc_clear_signal_mask()
    }

    private static func close(_ descriptor: CInt) { Glibc.close(descriptor) }
}
