import Glibc
import Stoic
import Testing

@testable import Orchestrator

@Suite("LaunchRecord", .timeLimit(.minutes(1)))
struct LaunchRecordTests {
    private let scratch = Scratch()
    private var path: String { "\(scratch.path)/launches" }

    private func entry(
        _ number: UInt64, _ service: ServiceName = "db", pid: Int32 = 1, start: UInt64 = 7,
        boot: String? = nil
    ) -> LaunchRecord.Entry {
        LaunchRecord.Entry(
            process: ProcessStamp(
                boot: boot ?? ProcessStamp.bootID() ?? "", pid: pid, startTime: start),
            token: 0xFEED_0000_0000_0000 + number, incarnation: Incarnation(number),
            service: service)
    }

    @Test("a killed engine's launches are found; those forgotten are not")
    func leftovers() throws {
        let names: [ServiceName] = ["db", "a b%\n", "ünï", ".."]
        do {
            let record = try LaunchRecord(in: scratch.path)
            #expect(record.leftovers.isEmpty)
            for (index, name) in names.enumerated() {
                try record.add(entry(UInt64(index) + 1, name, pid: Int32(index) + 10))
            }
            record.forget(Incarnation(1))
        }
        // Forgetting costs no write: a killed engine's successor sees a process that is gone.
        let next = try LaunchRecord(in: scratch.path)
        #expect(next.leftovers.map(\.service) == names)
        #expect(next.leftovers.map(\.token).first == 0xFEED_0000_0000_0001)
        #expect(next.unreadableLines == 0)
        for leftover in next.leftovers { next.forget(leftover.incarnation) }
        try next.finish()
        #expect(Scratch.names(in: scratch.path) == ["incarnations"])
    }

    @Test("CTL-10: a process is the recorded one by boot, number and start together")
    func recognition() throws {
        let own = try #require(ProcessStamp.ofThisProcess())
        #expect(own.isAlive)
        #expect(!ProcessStamp(boot: own.boot, pid: own.pid, startTime: own.startTime + 1).isAlive)
        #expect(!ProcessStamp(boot: "x", pid: own.pid, startTime: own.startTime).isAlive)
        #expect(!ProcessStamp(boot: own.boot, pid: -1, startTime: own.startTime).isAlive)
        let record = try LaunchRecord(in: scratch.path)
        try record.add(
            LaunchRecord.Entry(
                process: own, token: 1, incarnation: Incarnation(1), service: "db"))
        // Every number in the file becomes that of a bystander, here process 1.
        let text = try #require(Scratch.read(path))
        Scratch.write(text.replacing(" \(own.pid) ", with: " 1 "), to: path)
        let leftovers = try LaunchRecord(in: scratch.path).leftovers
        #expect(leftovers.count == 1 && leftovers.allSatisfy { !$0.process.isAlive })
    }

    @Test("a name with spaces and parentheses does not shift the fields of /proc/PID/stat")
    func status() {
        let rest = (3...21).map(String.init).joined(separator: " ")
        let text = Array("42 (a) S (b c) S \(rest) \n".utf8)
        let status = ProcessStatus(parsing: text)
        #expect(status?.startTime == 21 && status?.isAlive == true)
        let ended = Array("42 (x) Z \(rest)".utf8)
        #expect(ProcessStatus(parsing: ended)?.isAlive == false)
        #expect(ProcessStatus(parsing: Array("42 (x) S 1 2".utf8)) == nil)
        #expect(ProcessStatus(parsing: []) == nil)
    }

    @Test("launches of an earlier boot are dropped")
    func otherBoot() throws {
        try LaunchRecord(in: scratch.path).add(entry(5, boot: "an-earlier-boot"))
        let next = try LaunchRecord(in: scratch.path)
        #expect(next.leftovers.isEmpty)
        #expect(try next.nextIncarnation() > Incarnation(5))
        #expect(Scratch.read(path) == "")
    }

    @Test("CTL-9: a record cut anywhere gives its whole lines")
    func torn() throws {
        let record = try LaunchRecord(in: scratch.path)
        for number in 1...3 { try record.add(entry(UInt64(number))) }
        let text = try #require(Scratch.read(path))
        for length in 0...text.utf8.count {
            let cut = String(text.prefix(length))
            Scratch.write(cut, to: path)
            let next = try LaunchRecord(in: scratch.path)
            let whole = cut.count(where: { $0 == "\n" })
            #expect(next.leftovers.count == whole)
            #expect(next.unreadableLines == (cut.isEmpty || cut.hasSuffix("\n") ? 0 : 1))
            try next.add(entry(9))
            #expect(try LaunchRecord(in: scratch.path).leftovers.count == whole + 1)
        }
    }

    @Test("CTL-9: lines that are not ours are counted and skipped")
    func garbage() throws {
        try LaunchRecord(in: scratch.path).add(entry(1))
        let good = try #require(Scratch.read(path))
        Scratch.write("\0\0\0\n2 b 1 1 1 1 x\n1 b -1 1 1 1 x\n\n\(good)1 b 1 1 1\n", to: path)
        let next = try LaunchRecord(in: scratch.path)
        #expect(next.leftovers.count == 1 && next.unreadableLines == 5)
    }

    @Test("CTL-11: no number is used twice, whether the engine was killed or ended well")
    func numbers() throws {
        var used = Set<UInt64>()
        for round in 0..<5 {
            let record = try LaunchRecord(in: scratch.path)
            for _ in 0..<1500 {
                let number = try record.nextIncarnation().number
                #expect(used.insert(number).inserted)
            }
            if round.isMultiple(of: 2) { try record.finish() }
        }
        let last = try #require(used.max())
        try LaunchRecord(in: scratch.path).finish()
        let next = try LaunchRecord(in: scratch.path).nextIncarnation().number
        #expect(next > last && next <= last + IncarnationNumbers.block + 1)
    }

    @Test("CTL-11: a clean end wastes no number; a lost count is made up for by the record")
    func countFile() throws {
        let first = try LaunchRecord(in: scratch.path)
        #expect(try first.nextIncarnation() == Incarnation(1))
        try first.finish()
        let second = try LaunchRecord(in: scratch.path)
        #expect(try second.nextIncarnation() == Incarnation(2))
        try second.add(entry(2))
        unsafe unlink("\(scratch.path)/incarnations")
        #expect(try LaunchRecord(in: scratch.path).nextIncarnation() == Incarnation(3))
        Scratch.write("garbage\n", to: "\(scratch.path)/incarnations")
        #expect(throws: ProjectError.self) { try LaunchRecord(in: scratch.path) }
    }

    @Test("CTL-13: the record follows the number of living services, not of launches")
    func compaction() throws {
        let record = try LaunchRecord(in: scratch.path)
        for number in 1...UInt64(5000) {
            try record.add(entry(number))
            if number > 10 { record.forget(Incarnation(number - 10)) }
        }
        let lines = try #require(Scratch.read(path)).count(where: { $0 == "\n" })
        #expect(lines <= LaunchRecord.idleLines + 11)
        let numbers = try LaunchRecord(in: scratch.path).leftovers.map(\.incarnation.number)
        #expect(Set(numbers).isSuperset(of: 4991...5000))
    }

    @Test("CTL-13: a record that no engine of ours writes is refused, not read into memory")
    func tooLong() throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
        #expect(ftruncate(descriptor, off_t(LaunchRecord.bytesLimit) + 1) == 0)
        close(descriptor)
        #expect(throws: ProjectError.self) { try LaunchRecord(in: scratch.path) }
    }

    @Test("CTL-12: a full disk takes the line back and names the service")
    func fullDisk() async {
        await #expect(processExitsWith: .success) {
            let scratch = Scratch()
            let record = try LaunchRecord(in: scratch.path)
            let stamp = ProcessStamp(boot: ProcessStamp.bootID() ?? "", pid: 1, startTime: 1)
            func add(_ number: UInt64, _ name: ServiceName) throws(ProjectError) {
                try record.add(
                    .init(
                        process: stamp, token: 1, incarnation: Incarnation(number), service: name))
            }
            try add(1, "first")
            signal(SIGXFSZ, SIG_IGN)
            let size = try #require(Scratch.read("\(scratch.path)/launches")).utf8.count
            let unlimited = rlim_t.max
            // Room for half a line: the kernel writes a part, then nothing.
            var limit = rlimit(rlim_cur: rlim_t(size + 20), rlim_max: unlimited)
            unsafe setrlimit(__rlimit_resource_t(1), &limit)
            do {
                try add(2, "second")
                Issue.record("it was written")
            } catch { #expect("\(error)".contains("second")) }
            limit.rlim_cur = unlimited
            unsafe setrlimit(__rlimit_resource_t(1), &limit)
            try add(3, "third")
            let next = try LaunchRecord(in: scratch.path)
            #expect(next.leftovers.map(\.service) == ["first", "third"])
            #expect(next.unreadableLines == 0)
        }
    }
}
