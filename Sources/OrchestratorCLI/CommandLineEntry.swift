import EventLoop
import CProcess
import Glibc

/// Runs one command line.
/// - Parameter arguments: As the system hands them over, the program's own name first; empty where
///   it could not: Swift reads them from a file.
/// - Returns: What the process exits with; see `ExitCode`.
public func runCommandLine(_ arguments: [String]) -> Int32 {
    let words = Array(arguments.dropFirst())
    let environment = currentEnvironment()
    guard !arguments.isEmpty else {
        let failure = Failure(
            .notPermitted, "cannot read the command line from /proc/self/cmdline",
            hint: "It needs /proc, a free descriptor, and memory.")
        return Console(GlobalOptions(), environment: environment).fail(failure).number
    }
    do throws(UsageError) {
        return run(try ArgumentParser.parse(words), environment).number
    } catch {
        // A script that asked for JSON gets its errors as JSON, this one too.
        let json = words.prefix { $0 != "--" }.contains(OptionName.json.spelled)
        let console = Console(GlobalOptions(json: json), environment: environment)
        return console.fail(Failure(error)).number
    }
}

/// Ends the process with `code`, whatever its threads still wait for.
public func exitProcess(with code: Int32) -> Never { endProcess(with: code) }

private func run(_ line: ParsedLine, _ environment: [String: String]) -> ExitCode {
    switch line {
    case .help(let verb, let globals):
        Console(globals, environment: environment).answer(raw: HelpPage.text(for: verb))
        return .done
    case .version(let globals):
        return run(Invocation(verb: .version, globals: globals), environment)
    case .run(let invocation):
        return run(invocation, environment)
    }
}

private func run(_ invocation: Invocation, _ environment: [String: String]) -> ExitCode {
    keepStandardDescriptors(for: invocation.verb)
    let console = Console(invocation.globals, environment: environment)
    do throws(Failure) {
        return try CommandRun(invocation, console: console, environment: environment).run()
    } catch {
        return console.fail(error)
    }
}

/// Where a standard descriptor is closed, the next file or socket we open would get its number,
/// and our output would go there: into the engine's control socket, say. What takes its place
/// leads nowhere for `up`, which works all the same, and fails for everything else as a closed one
/// does.
private func keepStandardDescriptors(for verb: Verb) {
    guard verb != .up else {
        cproc_sanitize_stdio()
        return
    }
    // SAFETY: the path is a constant.
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
        _ = unsafe open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
}

/// Our environment; of two entries with the same name the first counts, as for `getenv`.
func currentEnvironment() -> [String: String] {
    var values: [String: String] = [:]
    // SAFETY: the list ends with a null, each text with a zero; nothing changes it meanwhile, and
    // each text is copied.
    var entry = unsafe environ
    while let text = unsafe entry.pointee {
        let parts = unsafe String(cString: text).split(
            separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, values[String(parts[0])] == nil {
            values[String(parts[0])] = String(parts[1])
        }
        unsafe entry += 1
    }
    return values
}
