import EventLoop
import Testing

@Suite("Alarms", .timeLimit(.minutes(1)))
struct AlarmsTests {
    @Test("fire in the order of their deadlines, ties in the order of arming", arguments: [0, 1])
    func order(kind: Int) throws {
        let loop = try Loop()
        var fired: [String] = []
        let alarms = try Alarms<String>(loop, clock: kind == 0 ? .awake : .boot) { id in
            fired.append(id)
            if id == "last" { loop.stop() }
        }
        alarms.arm("last", after: .milliseconds(20))
        alarms.arm("now", after: .zero)
        alarms.arm("before", after: .seconds(-5))
        alarms.arm("gone", after: .milliseconds(1))
        alarms.arm("never", after: .seconds(Int64.max))
        alarms.disarm("gone")
        #expect(fired.isEmpty)
        try loop.run()
        #expect(fired == ["now", "before", "last"])
        #expect(alarms.count == 1)
        alarms.close()
        loop.close()
    }
}
