import Glibc
import Stoic
import Testing

@testable import Orchestrator

@Suite("EventJournal", .timeLimit(.minutes(1)))
struct EventJournalTests {
    private func record(_ id: UInt64, cause: UInt64? = nil, _ level: EventLevel = .info)
        -> EventRecord
    {
        var record = EventRecord(
            id: id, name: "service.ready", level: level, message: "web is ready",
            at: (wall: 1_785_585_600_123_000_000, monotonic: 42))
        record.cause = cause
        return record
    }

    @Test("a record comes back from its line as it was")
    func roundTrip() throws {
        let scratch = try Scratch()
        var original = record(7, cause: 3, .warning)
        original.service = "wéb\u{0}\"\\\n"
        original.incarnation = 12
        original.fields = [
            ("text", "a\u{1B}b"), ("number", -5), ("ratio", 0.25), ("yes", true), ("no", .none),
            ("needs", ["db", "cache"]),
        ]
        let journal = EventJournal(file: scratch.file("state/events.jsonl"))
        journal.append(original)
        journal.append(record(8))
        journal.close()
        let read = try EventJournal.read(scratch.file("state/events.jsonl"))
        #expect(read.records == [original, record(8)])
        #expect(read.unreadable == 0)
    }

    @Test("a record is one line for people")
    func text() {
        var one = record(7, cause: 3)
        one.service = "web"
        #expect(one.line.hasSuffix("info    web web is ready (service.ready) #7 ← #3"))
        one.message = ""
        one.fields = [("code", 1), ("needs", ["a", "b"])]
        #expect(one.line.hasSuffix("info    web service.ready code=1 needs=a,b #7 ← #3"))
    }

    @Test("OUT-22: a torn line costs itself only, and the next record stands on its own line")
    func torn() throws {
        let scratch = try Scratch()
        let file = scratch.file("events.jsonl")
        let journal = EventJournal(file: file)
        journal.append(record(1))
        journal.append(record(2))
        journal.close()
        let size = try scratch.bytes(file).count
        try #require(unsafe truncate(file, size - 20) == 0)
        let next = EventJournal(file: file)
        next.append(record(3))
        next.close()
        let read = try EventJournal.read(file)
        #expect(read.records.map(\.id) == [1, 3])
        #expect(read.unreadable == 1)
        #expect(try EventJournal.read(scratch.file("none")).records.isEmpty)
    }

    @Test("the file is put aside at its limit, once; both are read back")
    func rotates() throws {
        let scratch = try Scratch()
        let file = scratch.file("events.jsonl")
        var limits = EventJournal.Limits()
        limits.maxBytes = 4096
        let journal = EventJournal(file: file, limits: limits)
        for id in 1...100 {
            journal.append(record(UInt64(id)))
            journal.flush()
        }
        #expect(scratch.names(in: scratch.path) == ["events.jsonl", "events.jsonl.1"])
        #expect(try scratch.bytes(file).count <= 4096)
        let ids = try EventJournal.read(file).records.map(\.id)
        #expect(ids == Array((ids.first ?? 0)...100))
        #expect(ids.count > 20)
        #expect(try EventJournal.read(file, last: 5).records.map(\.id) == [96, 97, 98, 99, 100])
    }

    @Test("OUT-23: a removed journal is begun anew within a second")
    func removed() throws {
        let scratch = try Scratch()
        let time = HandClock()
        let file = scratch.file("state/events.jsonl")
        let journal = EventJournal(file: file, clock: time.clock)
        journal.append(record(1))
        journal.flush()
        scratch.remove(scratch.file("state"))
        time.advance(.seconds(2))
        journal.append(record(2))
        journal.close()
        #expect(try EventJournal.read(file).records.map(\.id) == [2])
    }

    @Test("OUT-21: a full disk loses records with a count, and nothing else")
    func full() throws {
        let scratch = try Scratch()
        let time = HandClock()
        let file = scratch.file("events.jsonl")
        try #require(unsafe symlink("/dev/full", file) == 0)
        let journal = EventJournal(file: file, clock: time.clock)
        var reports: [UInt64] = []
        journal.onLoss = { lost, error in
            reports.append(lost)
            if error.code != ENOSPC { Issue.record("\(error)") }
        }
        for id in 1...100 {
            journal.append(record(UInt64(id)))
            journal.flush()
        }
        #expect(journal.lost == 100)
        #expect(reports == [1, 2, 4, 8, 16, 32, 64])
        #expect(journal.recent().count == 100)
        scratch.remove(file)
        time.advance(.seconds(2))
        journal.append(record(101))
        journal.close()
        #expect(try EventJournal.read(file).records.map(\.id) == [101])
        #expect(journal.lost == 100)
    }

    @Test("the latest 4,096 are in memory, found by number, filtered by level")
    func ring() throws {
        let scratch = try Scratch()
        let journal = EventJournal(file: scratch.file("events.jsonl"))
        for id in 1...5000 {
            journal.append(record(UInt64(id * 2), id % 1000 == 0 ? .error : .info))
        }
        #expect(journal.recent().map(\.id) == (905...5000).map { UInt64($0 * 2) })
        #expect(journal.recent(after: 9996).map(\.id) == [9998, 10_000])
        #expect(journal.recent(atLeast: .warning).map(\.id) == [2000, 4000, 6000, 8000, 10_000])
        #expect(journal.record(1810)?.id == 1810)
        #expect(journal.record(1808) == nil)
        #expect(journal.record(1811) == nil)
    }

    @Test("what an event follows from, back to the first cause; a loop of causes ends")
    func chain() throws {
        let scratch = try Scratch()
        let journal = EventJournal(file: scratch.file("events.jsonl"))
        journal.append(record(1))
        journal.append(record(2, cause: 1))
        journal.append(record(3, cause: 3))
        journal.append(record(4, cause: 2))
        #expect(journal.chain(from: 4).map(\.id) == [4, 2, 1])
        #expect(journal.chain(from: 3).map(\.id) == [3])
        #expect(journal.chain(from: 9).isEmpty)
    }

    @Test("OUT-16: a follower of events that does not take loses the oldest, and is told how many")
    func follower() throws {
        let scratch = try Scratch()
        let journal = EventJournal(file: scratch.file("events.jsonl"))
        let all = journal.follow(capacity: 3)
        let errors = journal.follow(atLeast: .error)
        for id: UInt64 in 1...5 { journal.append(record(id, id == 2 ? .error : .info)) }
        let (dropped, taken) = all.take()
        #expect(dropped == 2)
        #expect(taken.map(\.id) == [3, 4, 5])
        #expect(errors.take().elements.map(\.id) == [2])
        all.close()
        journal.append(record(6))
        #expect(all.isEmpty)
    }
}

@Suite("JSONWriter", .timeLimit(.minutes(1)))
struct JSONWriterTests {
    @Test("commas, nesting and every kind of value")
    func values() {
        var json = JSONWriter()
        json.beginObject()
        json.key("a")
        json.beginArray()
        json.value(1)
        json.value(UInt64.max)
        json.value(-0.5)
        json.value(true)
        json.null()
        json.beginObject()
        json.endObject()
        json.beginArray()
        json.endArray()
        json.endArray()
        json.key("b")
        json.value("x")
        json.key("c")
        json.value(nil as Int?)
        json.key("d")
        json.value(Double.infinity)
        json.endObject()
        let expected =
            #"{"a":[1,18446744073709551615,-0.5,true,null,{},[]],"b":"x","c":null,"d":null}"#
        #expect(json.text == expected)
    }

    @Test("strings are escaped, and hold no control byte")
    func strings() {
        var json = JSONWriter()
        json.value("\"\\/\n\r\t\u{0}\u{1F}\u{7F}é😀")
        #expect(json.text == "\"\\\"\\\\/\\n\\r\\t\\u0000\\u001f\\u007fé😀\"")
    }

    @Test("moments are written in UTC, also before 1970")
    func times() {
        #expect(WallTime(nanoseconds: 0).utc == "1970-01-01T00:00:00.000Z")
        #expect(WallTime(nanoseconds: -1_000_000).utc == "1969-12-31T23:59:59.999Z")
    }
}
