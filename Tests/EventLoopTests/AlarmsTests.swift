import EventLoop
import Testing

@Suite("Alarms", .timeLimit(.minutes(1)))
struct AlarmsTests {
    @Test(
        "LOOP-16: alarms fire in the order of their deadlines, ties in the order of arming",
        arguments: [true, false])
    func order(isAwake: Bool) throws {
        let loop = try Loop()
        var fired: [String] = []
        let alarms = try Alarms<String>(loop, clock: isAwake ? .awake : .boot) { id in
            fired.append(id)
            if id == "last" { loop.stop() }
        }
        alarms.arm("first", after: .milliseconds(1))
        alarms.arm("second", after: .milliseconds(2))
        alarms.arm("gone", after: .milliseconds(3))
        alarms.arm("later", after: .milliseconds(1))
        alarms.arm("later", after: .seconds(3600))
        alarms.arm("last", after: .milliseconds(20))
        alarms.disarm("gone")
        alarms.disarm("unknown")
        #expect(alarms.count == 4)
        try loop.run(atMost: .seconds(20))
        #expect(fired == ["first", "second", "last"])
        #expect(alarms.count == 1)
        alarms.close()
        #expect(alarms.count == 0)
        loop.close()
    }

    @Test("LOOP-14: nothing, and less than nothing, fire in the next turn and not at once")
    func nothing() throws {
        let loop = try Loop()
        var fired: [Int] = []
        let alarms = try Alarms<Int>(loop, clock: .awake) { id in
            fired.append(id)
            if fired.count == 3 { loop.stop() }
        }
        alarms.arm(1, after: .zero)
        alarms.arm(2, after: .seconds(-5))
        alarms.arm(3, after: .seconds(Int64.min))
        #expect(fired.isEmpty)
        try loop.run(atMost: .seconds(20))
        #expect(fired == [1, 2, 3])
        alarms.close()
        loop.close()
    }

    @Test("LOOP-15: more than a century is for ever, and traps nowhere")
    func century() throws {
        let loop = try Loop()
        var fired: [Int] = []
        let alarms = try Alarms<Int>(loop, clock: .boot) { id in
            fired.append(id)
            loop.stop()
        }
        alarms.arm(1, after: .seconds(Int64.max))
        alarms.arm(2, after: Duration(secondsComponent: .max, attosecondsComponent: .max))
        alarms.arm(3, after: .seconds(3_155_760_000))
        alarms.arm(4, after: .milliseconds(2))
        try loop.run(atMost: .seconds(20))
        #expect(fired == [4])
        #expect(alarms.count == 3)
        alarms.close()
        loop.close()
    }

    @Test("no alarm fires early", arguments: [1, 999, 1_000_001, 5_000_000])
    func neverEarly(nanoseconds: Int64) throws {
        let loop = try Loop()
        let wait = Duration.nanoseconds(nanoseconds)
        var fired: (awake: Duration, boot: Duration)?
        let alarms = try Alarms<Int>(loop, clock: .awake) { _ in
            fired = loop.now
            loop.stop()
        }
        let armed = loop.now
        alarms.arm(0, after: wait)
        try loop.run(atMost: .seconds(20))
        let moment = try #require(fired)
        #expect(moment.awake - armed.awake >= wait)
        #expect(moment.boot - armed.boot >= wait)
        alarms.close()
        loop.close()
    }

    @Test("LOOP-17: an alarm armed for now by its own reaction waits for the next turn")
    func rearms() throws {
        let loop = try Loop()
        var log: [String] = []
        var alarms: Alarms<Int>?
        alarms = try Alarms<Int>(loop, clock: .awake) { id in
            log.append("alarm \(id)")
            if log.count < 6 { alarms?.arm(id, after: .zero) } else { loop.stop() }
        }
        loop.onTurnEnd { log.append("turn") }
        alarms?.arm(7, after: .zero)
        try loop.run()
        #expect(log == ["turn", "alarm 7", "turn", "alarm 7", "turn", "alarm 7"])
        alarms?.close()
        alarms = nil
        loop.close()
    }

    @Test("LOOP-18: an alarm that is due and is disarmed by another one does not fire")
    func disarmsAnother() throws {
        let loop = try Loop()
        var fired: [Int] = []
        var alarms: Alarms<Int>?
        alarms = try Alarms<Int>(loop, clock: .awake) { id in
            fired.append(id)
            alarms?.disarm(2)
            if id == 3 { loop.stop() }
        }
        for id in 1...3 { alarms?.arm(id, after: .zero) }
        try loop.run()
        #expect(fired == [1, 3])
        alarms?.close()
        alarms = nil
        loop.close()
    }

    @Test("LOOP-19: closing the alarms in a reaction ends them there")
    func closesInside() throws {
        let loop = try Loop()
        var fired: [Int] = []
        var alarms: Alarms<Int>?
        alarms = try Alarms<Int>(loop, clock: .awake) { id in
            fired.append(id)
            alarms?.close()
            alarms?.arm(9, after: .zero)
            alarms?.close()
            alarms = nil
        }
        for id in 1...3 { alarms?.arm(id, after: .zero) }
        try loop.run()
        #expect(fired == [1])
        loop.close()
    }

    @Test("an alarm that became the earliest, or stopped being it, is waited for correctly")
    func earliestChanges() throws {
        let loop = try Loop()
        var fired: [Int] = []
        var alarms: Alarms<Int>?
        alarms = try Alarms<Int>(loop, clock: .awake) { id in
            fired.append(id)
            switch id {
            case 1:
                alarms?.arm(2, after: .milliseconds(1))
                alarms?.arm(4, after: .seconds(1800))
            case 2:
                alarms?.disarm(4)
                alarms?.arm(3, after: .milliseconds(1))
            default: loop.stop()
            }
        }
        alarms?.arm(3, after: .seconds(3600))
        alarms?.arm(0, after: .milliseconds(1))
        alarms?.disarm(0)
        alarms?.arm(1, after: .milliseconds(2))
        try loop.run(atMost: .seconds(20))
        #expect(fired == [1, 2, 3])
        alarms?.close()
        alarms = nil
        loop.close()
    }

    @Test("ten thousand alarms due at once fire in one turn, in order")
    func many() throws {
        let loop = try Loop()
        var fired: [Int] = []
        var turns = 0
        let alarms = try Alarms<Int>(loop, clock: .awake) { id in
            fired.append(id)
            if fired.count == 10_000 { loop.stop() }
        }
        loop.onTurnEnd { turns += 1 }
        for id in 0..<10_000 { alarms.arm(id, after: .zero) }
        try loop.run(atMost: .seconds(20))
        #expect(fired == Array(0..<10_000))
        #expect(turns == 1)
        alarms.close()
        loop.close()
    }

    @Test("armed alarms may be the last that hold the loop", arguments: [true, false])
    func lastHolder(isClosed: Bool) async throws {
        weak var loop: Loop?
        do {
            let alarms = try {
                let made = try Loop()
                loop = made
                return try Alarms<Int>(made, clock: .awake) { _ in }
            }()
            alarms.arm(1, after: .seconds(3600))
            #expect(loop != nil)
            if isClosed { alarms.close() }
        }
        #expect(loop == nil)
    }
}
