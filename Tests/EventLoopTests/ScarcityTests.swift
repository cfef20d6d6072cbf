import EventLoop
import Glibc
import Testing

@Suite("Scarcity", .timeLimit(.minutes(1)))
struct ScarcityTests {
    @Test("LOOP-31: few descriptors are an error, and never the end of the process")
    func fewDescriptors() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit()
            #expect(unsafe getrlimit(__rlimit_resource_t(7), &limit) == 0)
            var refused = 0
            for number in rlim_t(3)..<40 {
                limit.rlim_cur = number
                #expect(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
                do {
                    let loop = try Loop()
                    loop.close()
                } catch { refused += 1 }
            }
            #expect(refused > 0 && refused < 37)
        }
    }

    @Test("LOOP-32: the pool's threads exist from the start on")
    func pool() async {
        await #expect(processExitsWith: .success) {
            let loop = try Loop()
            try startPool()
            // Whoever asks now finds the threads, although no more can be made.
            var none = rlimit()
            #expect(unsafe setrlimit(__rlimit_resource_t(6), &none) == 0)
            var wasDone = false
            try queueWork(loop, {}, then: { wasDone = true })
            try loop.run()
            #expect(wasDone)
            loop.close()
        }
    }

    @Test("LOOP-32: queued work is refused where there is no thread for it, and done later")
    func noThreads() async {
        await #expect(processExitsWith: .success) {
            let loop = try Loop()
            var before = rlimit()
            #expect(unsafe getrlimit(__rlimit_resource_t(9), &before) == 0)
            // Without room for a stack: less memory than there is in use.
            var none = rlimit(rlim_cur: 1 << 20, rlim_max: before.rlim_max)
            #expect(unsafe setrlimit(__rlimit_resource_t(9), &none) == 0)
            var error: UVError?
            do throws(UVError) {
                try queueWork(loop, {}, then: { fatalError("refused work ran") })
            } catch let no { error = no }
            #expect(unsafe setrlimit(__rlimit_resource_t(9), &before) == 0)
            #expect(error?.code == -EAGAIN)
            var wasDone = false
            try queueWork(loop, {}, then: { wasDone = true })
            try loop.run()
            #expect(wasDone)
            loop.close()
        }
    }

    @Test("LOOP-33: the process ends although queued work does not")
    func abandonsWork() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let loop = try Loop()
            // For ever, and only in a process that ends at once.
            try queueWork(loop, { while true { pause() } }, then: {})
            endProcess(with: 7)
        }
    }

    @Test("an end without queued work is an ordinary exit")
    func ordinaryEnd() async {
        await #expect(processExitsWith: .exitCode(3)) { endProcess(with: 3) }
    }
}
