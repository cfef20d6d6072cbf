import EventLoop
import Glibc
import Testing

@Suite("Watch of a pidfd", .timeLimit(.minutes(1)))
struct ChildWatchTests {
    @Test("LOOP-30: a child's exit makes its pidfd readable, and non-blocking waits do not wait")
    func exit() async {
        await #expect(processExitsWith: .success) {
            let loop = try Loop()
            // The child reads until its standard input ends, so it exits when we say so.
            let input = try DescriptorPair.pipe()
            let child = try spawnCat(reading: input.reading.number)
            let process = try openProcessDescriptor(of: child)
            let number = process.number
            var exits = 0
            let watch = try Watch(loop, descriptor: number, interest: .readable) { ready in
                exits += 1
                #expect(ready == .readable)
                loop.stop()
            }
            try loop.runWhatIsReady()
            #expect(exits == 0)
            #expect(waitState(of: number) == .runs)
            let stillReading = input.closeWriting()
            try loop.run(atMost: .seconds(20))
            #expect(exits == 1)
            watch.close()
            #expect(waitState(of: number) == .ended)
            #expect(waitState(of: number) == .unknown)
            _ = stillReading
            loop.close()
        }
    }
}

private enum WaitState { case runs, ended, unknown }

/// Reaps the child of a pidfd that libuv made non-blocking.
private func waitState(of descriptor: CInt) -> WaitState {
    var info = unsafe siginfo_t()
    let result = unsafe waitid(P_PIDFD, id_t(descriptor), &info, WEXITED)
    guard result == 0 else { return errno == EAGAIN ? .runs : .unknown }
    return .ended
}

private func spawnCat(reading descriptor: CInt) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    try #require(unsafe posix_spawn_file_actions_init(&actions) == 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, 0)
    var child: pid_t = 0
    let path = unsafe strdup("/bin/cat")
    defer { unsafe free(path) }
    var arguments = unsafe [path, nil]
    let result = unsafe posix_spawn(&child, "/bin/cat", &actions, nil, &arguments, nil)
    unsafe posix_spawn_file_actions_destroy(&actions)
    try #require(result == 0)
    return child
}

/// `pidfd_open`, which Glibc's Swift face leaves out.
private func openProcessDescriptor(of child: pid_t) throws -> OwnedDescriptor {
    typealias Open = @convention(c) (pid_t, CUnsignedInt) -> CInt
    let symbol = try unsafe #require(unsafe dlsym(nil, "pidfd_open"))
    let open = unsafe unsafeBitCast(symbol, to: Open.self)
    let number = open(child, 0)
    try #require(number >= 0)
    return OwnedDescriptor(owning: number)
}
