import Stoic
import StoicTesting
import Testing

@Suite("simulation, traces", .timeLimit(.minutes(2)))
struct TraceTests {
    private func recorder(_ events: (String, [Event.Field])...) -> EventRecorder {
        let recorder = EventRecorder()
        for (name, fields) in events {
            recorder.record(
                Event(EventName(name), .info, fields, at: AnyClock(TestClock()).now))
        }
        return recorder
    }

    private var diamond: EventRecorder {
        recorder(
            ("graph.starting", []), ("service.started", [.init("service", "b")]),
            ("service.started", [.init("service", "a"), .init("after", Duration.seconds(1))]),
            ("graph.started", []))
    }

    private func started(_ name: String) -> ExpectedEvent {
        .event("service.started", ["service": name])
    }

    @Test("TST-13: a total order is exact, in order with others between, or without order")
    func total() throws {
        let all: [ExpectedEvent] = ["graph.starting", started("b"), started("a"), "graph.started"]
        try diamond.expectTrace(all)
        try diamond.expectTrace(all.reversed(), .anyOrder)
        try diamond.expectTrace(["graph.starting", "graph.started"], .inOrder)
        #expect(throws: TraceMismatch.self) { try diamond.expectTrace(all.reversed()) }
        #expect(throws: TraceMismatch.self) { try diamond.expectTrace(all.dropLast()) }
        #expect(throws: TraceMismatch.self) {
            try diamond.expectTrace(["graph.started", "graph.starting"], .inOrder)
        }
        #expect(throws: TraceMismatch.self) {
            try diamond.expectTrace(all + ["graph.started"], .anyOrder)
        }
    }

    @Test("TST-13: a partial order is a set of chains")
    func partial() throws {
        try diamond.expectTrace(chains: [
            ["graph.starting", started("a"), "graph.started"],
            ["graph.starting", started("b"), "graph.started"],
        ])
        #expect(throws: TraceMismatch.self) {
            try diamond.expectTrace(chains: [[started("a"), started("b")]])
        }
    }

    @Test("TST-14: a mismatch shows what is right, what is missing and what was not expected")
    func difference() throws {
        let mismatch = #expect(throws: TraceMismatch.self) {
            try diamond.expectTrace([
                "graph.starting", started("a"), started("c"), "graph.started",
            ])
        }
        #expect(
            mismatch?.lines == [
                "  graph.starting",
                "+ service.started service=b",
                "  service.started service=a after=\(Duration.seconds(1))",
                "- service.started service=c",
                "  graph.started",
            ])
        let unordered = #expect(throws: TraceMismatch.self) {
            try diamond.expectTrace(["graph.starting", "graph.stopped"], .anyOrder)
        }
        #expect(unordered?.lines.first == "- graph.stopped")
        #expect(unordered?.lines.count == 4)
    }

    @Test("TST-14: secrets are not shown")
    func secret() {
        let events = recorder(("login", [.init("token", .text("hunter2"), secret: true)]))
        let mismatch = #expect(throws: TraceMismatch.self) { try events.expectTrace([]) }
        #expect(mismatch?.lines == ["+ login token=<redacted>"])
    }

    @Test("TST-15: a recorder that was full proves nothing, and says so")
    func full() throws {
        let recorder = EventRecorder()
        let event = Event(EventName("x"), .info, at: AnyClock(TestClock()).now)
        for _ in 0...EventRecorder.capacity { recorder.record(event) }
        #expect(recorder.events.count == EventRecorder.capacity)
        #expect(recorder.dropped == 1)
        #expect(throws: TraceMismatch.self) { try recorder.expectTrace(["x"], .inOrder) }
        recorder.clear()
        try recorder.expectTrace([])
    }
}
