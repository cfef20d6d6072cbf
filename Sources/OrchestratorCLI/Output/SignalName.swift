import Glibc

/// Signals by name and number.
enum SignalName {
    private static let names: [(name: String, number: Int32)] = [
        ("HUP", SIGHUP), ("INT", SIGINT), ("QUIT", SIGQUIT), ("ILL", SIGILL), ("TRAP", SIGTRAP),
        ("ABRT", SIGABRT), ("BUS", SIGBUS), ("FPE", SIGFPE), ("KILL", SIGKILL),
        ("USR1", SIGUSR1), ("SEGV", SIGSEGV), ("USR2", SIGUSR2), ("PIPE", SIGPIPE),
        ("ALRM", SIGALRM), ("TERM", SIGTERM), ("CHLD", SIGCHLD), ("CONT", SIGCONT),
        ("STOP", SIGSTOP), ("TSTP", SIGTSTP), ("TTIN", SIGTTIN), ("TTOU", SIGTTOU),
        ("URG", SIGURG), ("XCPU", SIGXCPU), ("XFSZ", SIGXFSZ), ("VTALRM", SIGVTALRM),
        ("PROF", SIGPROF), ("WINCH", SIGWINCH), ("IO", SIGIO), ("PWR", SIGPWR), ("SYS", SIGSYS),
    ]

    /// The number of `HUP`, `SIGHUP`, `hup` or `1`; `nil` for what is no signal.
    static func number(of text: String) -> Int32? {
        if let number = Int32(text) { return (1...64).contains(number) ? number : nil }
        let upper = text.uppercased()
        let name = upper.hasPrefix("SIG") ? String(upper.dropFirst(3)) : upper
        return names.first { $0.name == name }?.number
    }

    /// `SIGHUP`, or `signal 40` for one without a name.
    static func name(of number: Int32) -> String {
        names.first { $0.number == number }.map { "SIG" + $0.name } ?? "signal \(number)"
    }
}
