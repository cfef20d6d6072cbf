import Glibc

extension CommandRun {
    /// `check`: reads the config and says how long a start and a stop can take.
    func check() throws(Failure) -> ExitCode {
        let (project, warnings) = try loadConfig()
        let report = CheckReport(project, warnings, descriptorLimit: hardDescriptorLimit())
        console.answer(console.json ? report.json : report.text(console.style))
        return .done
    }
}

/// How many descriptors we may have after raising the soft limit to the hard one.
private func hardDescriptorLimit() -> UInt64 {
    // SAFETY: the call fills a variable of the size it expects, and keeps no pointer.
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
        return .max
    }
    return UInt64(limit.rlim_max)
}
