import Glibc
import Testing

@testable import OrchestratorCLI

/// Each runs in a process of its own: it starts children and gives stderr to them.
@Suite("The background half", .timeLimit(.minutes(1)))
struct DetachedLaunchTests {
    @Test("CLI-20: a child that ends first gives its exit code, and what it said is shown")
    func endsFirst() async throws {
        let result = try await #require(
            processExitsWith: .exitCode(7), observing: [\.standardErrorContent]
        ) {
            exit(Self.launch("echo 'cannot start web' >&2; exit 7", within: .seconds(20)))
        }
        #expect(Self.text(result).contains("cannot start web\n"))
    }

    @Test("the background half has the name of this program, not that of a link")
    func ownName() {
        let program = DetachedLaunch.ownProgram()
        #expect(program.hasPrefix("/") && !program.hasSuffix("/exe"))
    }

    @Test("CLI-20: a child that is killed first is a defect that names the signal")
    func killedFirst() async throws {
        let result = try await #require(
            processExitsWith: .exitCode(70), observing: [\.standardErrorContent]
        ) {
            exit(Self.launch("kill -SEGV $$", within: .seconds(20)))
        }
        #expect(Self.text(result).contains("the background process was ended by SIGSEGV"))
    }

    @Test("a child that reports lets us go at once; it has a session, and no stdin, of its own")
    func reports() async throws {
        let result = try await #require(
            processExitsWith: .exitCode(0), observing: [\.standardErrorContent]
        ) {
            let script = """
                read line && echo 'there is a stdin'
                read -r _ _ _ _ group session _ < /proc/self/stat
                [ "$session" = $$ ] && echo 'own session'
                printf R >&3
                exec 3>&- >/dev/null 2>&1
                """
            exit(Self.launch(script, within: .seconds(20)))
        }
        #expect(Self.text(result).contains("own session"))
        #expect(!Self.text(result).contains("stdin"))
    }

    @Test("CLI-25: a child that finds another engine says so, and the caller asks that one")
    func runsAlready() async throws {
        let result = try await #require(
            processExitsWith: .exitCode(42), observing: [\.standardErrorContent]
        ) {
            exit(Self.launch("printf A >&3; exec 3>&-; exit 77", within: .seconds(20)))
        }
        #expect(!Self.text(result).contains("error"))
    }

    @Test("CLI-21: a child that never reports is left running after the limit")
    func neverReports() async throws {
        let result = try await #require(
            processExitsWith: .exitCode(75), observing: [\.standardErrorContent]
        ) {
            // It reads from the socket, whose other end is ours, so it ends with this process.
            exit(Self.launch("read line <&3", within: .milliseconds(300)))
        }
        #expect(Self.text(result).contains("not up after 300 ms; it goes on in the background"))
    }

    @Test("more output than a pipe holds neither blocks the child nor us")
    func floods() async throws {
        await #expect(processExitsWith: .exitCode(0)) {
            let script =
                "i=0; while [ $i -lt 3000 ]; do echo \(String(repeating: "x", count: 100)); "
                + "i=$((i + 1)); done 2>/dev/null; printf R >&3"
            exit(Self.launch(script, within: .seconds(20)))
        }
    }

    @Test("CLI-30: a report that was made leaves its descriptor's number to whoever has it now")
    func reportsOnce() async {
        await #expect(processExitsWith: .success) {
            var ends: [CInt] = [-1, -1]
            #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            let (ours, theirs) = (dup2(ends[0], 100), DetachedChild.reportDescriptor)
            #expect(dup2(ends[1], theirs) == theirs)
            DetachedChild.report()
            var byte: UInt8 = 0
            #expect(unsafe read(ours, &byte, 1) == 1 && byte == DetachedChild.readyByte)
            // Something else gets the number, and everything is up once more.
            let other = unsafe open("/dev/zero", O_RDONLY)
            #expect(dup2(other, theirs) == theirs)
            DetachedChild.report()
            DetachedChild.reportFailure("a")
            #expect(unsafe read(theirs, &byte, 1) == 1, "it was closed")
        }
    }

    @Test("CLI-22: nobody reads any more: the end is that of SIGPIPE, and quiet")
    func readerLeaves() async throws {
        let result = try await #require(
            processExitsWith: .exitCode(141), observing: [\.standardErrorContent]
        ) {
            signal(SIGPIPE, SIG_IGN)
            var ends: [CInt] = [-1, -1]
            unsafe pipe(&ends)
            dup2(ends[1], STDOUT_FILENO)
            close(ends[0])
            Console(GlobalOptions(), environment: [:]).answer("anybody?")
        }
        #expect(!Self.text(result).contains("error:"))
    }

    private static func launch(_ script: String, within limit: Duration) -> Int32 {
        let console = Console(GlobalOptions(), environment: [:])
        let child = DetachedLaunch(
            ["sh", "-c", script], console: console, limit: limit, program: "/bin/sh")
        do { return try child.run()?.number ?? 42 } catch { return console.fail(error).number }
    }

    private static func text(_ result: ExitTest.Result) -> String {
        String(decoding: result.standardErrorContent, as: UTF8.self)
    }
}
