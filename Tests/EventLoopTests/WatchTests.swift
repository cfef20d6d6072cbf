import EventLoop
import Glibc
import Testing

@Suite("Watch", .timeLimit(.minutes(1)))
struct WatchTests {
    @Test("is told of bytes in a pipe once a turn, until they are read")
    func levelTriggered() throws {
        let loop = try Loop()
        let pipe = try DescriptorPair.pipe()
        var turns = 0
        let reading = pipe.reading.number
        let watch = try Watch(loop, descriptor: reading, interest: .readable) { ready in
            #expect(ready == .readable)
            turns += 1
            guard turns == 3 else { return }
            #expect(receive(from: reading) == "hello")
            loop.stop()
        }
        send("hello", to: pipe.writing.number)
        try loop.run(atMost: .seconds(20))
        try loop.runWhatIsReady()
        #expect(turns == 3)
        watch.close()
        loop.close()
    }

    @Test("is told of each datagram")
    func datagrams() throws {
        let loop = try Loop()
        let pair = try DescriptorPair.datagramSockets()
        var received: [String?] = []
        let reading = pair.reading.number
        let watch = try Watch(loop, descriptor: reading, interest: .readable) { _ in
            received.append(receive(from: reading))
            if received.count == 2 { loop.stop() }
        }
        send("READY=1", to: pair.writing.number)
        send("STOPPING=1", to: pair.writing.number)
        try loop.run(atMost: .seconds(20))
        #expect(received == ["READY=1", "STOPPING=1"])
        watch.close()
        loop.close()
    }

    @Test("tells the end of a pipe as readable, and of a stream socket as disconnect too")
    func ends() throws {
        let loop = try Loop()
        let pipe = try DescriptorPair.pipe().closeWriting()
        let socket = try DescriptorPair.streamSockets().closeWriting()
        var told: [String: Interest] = [:]
        let both: Interest = [.readable, .disconnect]
        let first = try Watch(loop, descriptor: pipe.number, interest: both) {
            told["pipe"] = $0
        }
        let second = try Watch(loop, descriptor: socket.number, interest: both) {
            told["socket"] = $0
        }
        try loop.runWhatIsReady()
        #expect(told["pipe"]?.contains(.readable) == true)
        #expect(told["socket"] == both)
        first.close()
        second.close()
        loop.close()
    }

    @Test("LOOP-1: closing a watch in its own reaction ends it there")
    func closesItself() throws {
        let loop = try Loop()
        let pipe = try DescriptorPair.pipe()
        var watch: Watch?
        var count = 0
        watch = try Watch(loop, descriptor: pipe.reading.number, interest: .readable) { _ in
            count += 1
            watch?.close()
            watch?.close()
            watch = nil
        }
        send("x", to: pipe.writing.number)
        try loop.run()
        #expect(count == 1)
        #expect(watch == nil)
        loop.close()
    }

    @Test("LOOP-2: a watch that another reaction closed is not told of what was due")
    func closedByAnother() throws {
        let loop = try Loop()
        let one = try DescriptorPair.pipe()
        let two = try DescriptorPair.pipe()
        var watches: [Watch] = []
        var told = 0
        for descriptor in [one.reading.number, two.reading.number] {
            watches.append(
                try Watch(loop, descriptor: descriptor, interest: .readable) { _ in
                    told += 1
                    for watch in watches { watch.close() }
                })
        }
        send("x", to: one.writing.number)
        send("x", to: two.writing.number)
        try loop.run()
        #expect(told == 1)
        loop.close()
    }

    @Test("LOOP-3: a watch that is dropped closes itself and lets its captures go")
    func dropped() throws {
        let loop = try Loop()
        let pipe = try DescriptorPair.pipe()
        weak var captured: Token?
        do {
            let token = Token()
            captured = token
            let watch = try Watch(loop, descriptor: pipe.reading.number, interest: .readable) {
                _ in
                withExtendedLifetime(token) {}
                Issue.record("told after it was dropped")
            }
            send("x", to: pipe.writing.number)
            withExtendedLifetime(watch) {}
        }
        #expect(captured == nil)
        try loop.runWhatIsReady()
        loop.close()
    }

    @Test("LOOP-4: an error of the descriptor is told as the whole interest, and waiting goes on")
    func error() throws {
        let loop = try Loop()
        let pipe = try DescriptorPair.pipe().closeReading()
        var told: [Interest] = []
        let watch = try Watch(loop, descriptor: pipe.number, interest: .writable) { ready in
            told.append(ready)
            if told.count == 2 { loop.stop() }
        }
        try loop.run(atMost: .seconds(20))
        #expect(told == [[.writable, .disconnect], [.writable, .disconnect]])
        watch.change(to: [])
        try loop.runWhatIsReady()
        #expect(told.count == 2)
        watch.close()
        loop.close()
    }

    @Test("LOOP-5: a second watch of one descriptor is refused, a watch of its copy is not")
    func second() throws {
        let loop = try Loop()
        let pipe = try DescriptorPair.pipe()
        let descriptor = pipe.reading.number
        let first = try Watch(loop, descriptor: descriptor, interest: .readable) { _ in }
        #expect(throws: UVError(code: -EEXIST, call: "epoll_ctl")) {
            _ = try Watch(loop, descriptor: descriptor, interest: .readable) { _ in }
        }
        let copy = OwnedDescriptor(owning: dup(descriptor))
        let other = try Watch(loop, descriptor: copy.number, interest: .readable) { _ in }
        first.close()
        let again = try Watch(loop, descriptor: descriptor, interest: .readable) { _ in }
        other.close()
        again.close()
        loop.close()
    }

    @Test("LOOP-6: what cannot be waited on is refused, and nothing stays open")
    func unwatchable() throws {
        let loop = try Loop()
        let file = unsafe OwnedDescriptor(owning: open("/proc/self/exe", O_RDONLY | O_CLOEXEC))
        #expect(throws: UVError(code: -EPERM, call: "epoll_ctl")) {
            _ = try Watch(loop, descriptor: file.number, interest: .readable) { _ in }
        }
        for number in [CInt(-1), 1_000_000] {
            #expect(throws: UVError(code: -EBADF, call: "epoll_ctl")) {
                _ = try Watch(loop, descriptor: number, interest: .readable) { _ in }
            }
        }
        loop.close()
    }

    @Test("LOOP-7: a watch without interest is silent, does not hold the loop, and can go on")
    func pauses() throws {
        let loop = try Loop()
        let pipe = try DescriptorPair.pipe()
        var told = 0
        let watch = try Watch(loop, descriptor: pipe.reading.number, interest: .readable) { _ in
            told += 1
            loop.stop()
        }
        send("x", to: pipe.writing.number)
        watch.change(to: [])
        try loop.run()
        #expect(told == 0)
        watch.change(to: .readable)
        try loop.run(atMost: .seconds(20))
        #expect(told == 1)
        watch.close()
        watch.change(to: .readable)
        try loop.run()
        #expect(told == 1)
        loop.close()
    }

    @Test("a closed watch's descriptor can be closed at once, and its number watched again")
    func reuse() throws {
        let loop = try Loop()
        var told = 0
        for _ in 0..<100 {
            let pair = try DescriptorPair.pipe()
            let watch = try Watch(loop, descriptor: pair.reading.number, interest: .readable) {
                _ in
                told += 1
                loop.stop()
            }
            send("x", to: pair.writing.number)
            try loop.run(atMost: .seconds(20))
            watch.close()
        }
        #expect(told == 100)
        loop.close()
    }

    @Test("an owner that its own reaction keeps alive is freed by closing, which it does again")
    func ownedCycle() throws {
        final class Owner {
            var watch: Watch?
            deinit { watch?.close() }
        }
        let loop = try Loop()
        let pipe = try DescriptorPair.pipe()
        weak var seen: Owner?
        var watch: Watch?
        do {
            let owner = Owner()
            seen = owner
            watch = try Watch(loop, descriptor: pipe.reading.number, interest: .readable) { _ in
                withExtendedLifetime(owner) {}
            }
            owner.watch = watch
        }
        #expect(seen != nil)
        watch?.close()
        #expect(seen == nil)
        watch = nil
        loop.close()
    }
}
