import EventLoop
import Glibc
import Manifest
import Stoic
import Testing

@testable import Orchestrator

/// A directory of its own for one test, removed with everything in it at the end.
final class Scratch {
    let path: String

    init() throws {
        var template = Array("/tmp/output-tests-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil, "cannot make a directory: errno \(errno)")
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit { remove(path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Removes a file, or a directory with everything in it; links are not followed.
    func remove(_ path: String) {
        for name in names(in: path) { remove("\(path)/\(name)") }
        if unsafe rmdir(path) != 0 { unsafe unlink(path) }
    }

    func names(in directory: String) -> [String] {
        var facts = stat()
        guard unsafe lstat(directory, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR,
            let stream = unsafe opendir(directory)
        else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Everything in a file; empty when there is none.
    func bytes(_ path: String) throws -> [UInt8] {
        guard let descriptor = try FileCalls.openReading(path) else { return [] }
        let size = try FileCalls.facts(of: descriptor.number, named: path).size
        return try FileCalls.read(descriptor.number, at: 0, limit: Int(size), named: path)
    }

    /// Everything in a log, the oldest rotated file first.
    func wholeLog(_ path: String) throws -> [UInt8] {
        var all: [UInt8] = []
        var number = 1
        while try FileCalls.facts(at: "\(path).\(number)")?.kind == .regular { number += 1 }
        for number in (1..<number).reversed() { all += try bytes("\(path).\(number)") }
        return all + (try bytes(path))
    }
}

/// A clock that moves when it is told to.
final class HandClock {
    var nanoseconds: Int64 = 1_000_000_000_000
    var clock: OutputClock {
        OutputClock {
            OutputStamp(
                wall: 1_700_000_000_000_000_000 + self.nanoseconds, monotonic: self.nanoseconds)
        }
    }
    func advance(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        nanoseconds += seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

/// A store with one service, `web`, whose clock stands still.
final class OneService {
    let scratch: Scratch
    let time = HandClock()
    let loop: Loop
    let store: OutputStore
    let log: ServiceLog
    private(set) var reports: [OutputReport] {
        get { box.reports }
        set { box.reports = newValue }
    }
    private let box = Box()

    final class Box { var reports: [OutputReport] = [] }

    init(
        limits: OutputStore.Limits = .init(), _ change: (inout OutputDefinition) -> Void = { _ in }
    ) throws {
        scratch = try Scratch()
        loop = try Loop()
        var definition = OutputDefinition()
        change(&definition)
        let box = self.box
        store = OutputStore(
            directory: scratch.file("logs"), limits: limits, clock: time.clock
        ) { box.reports.append($0) }
        log = store.log(for: "web", definition)
    }

    var path: String { log.path }

    /// Brings bytes to the log as a capture would.
    func write(_ text: String, incarnation: UInt64 = 1, _ stream: OutputStream = .combined) {
        write(Array(text.utf8), incarnation: incarnation, stream)
    }

    func write(_ bytes: [UInt8], incarnation: UInt64 = 1, _ stream: OutputStream = .combined) {
        log.append(bytes.span, mark(incarnation, stream), midLine: false)
    }

    func mark(_ incarnation: UInt64 = 1, _ stream: OutputStream = .combined) -> OutputMark {
        OutputMark(
            stamp: time.clock.now(), incarnation: Incarnation(incarnation), stream: stream)
    }

    /// Every line of the log as its reader shows it, the unfinished last ones included.
    func lines(from start: LogReader.Start = .beginning) throws -> [LogLine] {
        let reader = LogReader("web", file: path, maxLineBytes: log.definition.maxLineBytes)
        try reader.seek(start)
        return try readAll(reader) + reader.finish()
    }
}

/// Whatever a reader has now, taken in small portions.
func readAll(_ reader: LogReader) throws -> [LogLine] {
    var all: [LogLine] = []
    while true {
        let some = try reader.next(7)
        if some.isEmpty { return all }
        all += some
    }
}

/// A pipe, with the end that a service would have.
struct TestPipe: ~Copyable {
    let writeEnd: OwnedDescriptor
    var readEnd: OwnedDescriptor?

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        readEnd = OwnedDescriptor(owning: ends[0])
        writeEnd = OwnedDescriptor(owning: ends[1])
    }

    /// The other end, for the capture.
    mutating func takeReadEnd() throws -> OwnedDescriptor {
        guard let end = readEnd.take() else { throw FixtureError.taken }
        return end
    }

    /// Writes everything; more than 64 KiB at a time would wait for a reader.
    func write(_ bytes: [UInt8]) {
        let (count, code) = FileCalls.write(bytes.span, to: writeEnd.number)
        #expect(count == bytes.count && code == nil)
    }

    func write(_ text: String) { write(Array(text.utf8)) }
}

enum FixtureError: Error { case taken }

/// Runs the loop until `isDone`, checked at the end of each turn, but no longer than 20 s.
func run(_ loop: Loop, until isDone: @escaping () -> Bool) throws {
    var isLate = false
    let alarms = try Alarms<Int>(loop, clock: .awake) { _ in
        isLate = true
        loop.stop()
    }
    defer { alarms.close() }
    alarms.arm(0, after: .seconds(20))
    loop.onTurnEnd { if isDone() { loop.stop() } }
    try loop.run()
    #expect(!isLate, "nothing happened for 20 s")
}
