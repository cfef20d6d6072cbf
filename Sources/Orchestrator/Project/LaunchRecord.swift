import Glibc
public import Stoic

/// What the next engine finds of this one if it is killed: one line per launch.
///
/// The file only grows by whole lines, each written by one call; a line that was cut short by a
/// full disk or a crash is skipped when it is read. Only launches whose tree may still live are
/// kept, so its size follows the number of services and not the age of the engine.
public final class LaunchRecord {
    /// One launch.
    public struct Entry: Hashable, Sendable {
        /// Its main process.
        public var process: ProcessStamp
        /// The mark its tree carries (in the soft limit of an unused resource).
        public var token: UInt64
        /// Which launch it was.
        public var incarnation: Incarnation
        /// Of which service.
        public var service: ServiceName

        /// An entry from its parts.
        public init(
            process: ProcessStamp, token: UInt64, incarnation: Incarnation, service: ServiceName
        ) {
            self.process = process
            self.token = token
            self.incarnation = incarnation
            self.service = service
        }
    }

    /// What earlier engines left of this boot, oldest first: launches that were never forgotten.
    /// A main process is still there if `process.isAlive`; one that is gone may have left
    /// descendants, which carry its token.
    public let leftovers: [Entry]
    /// How many lines were unreadable: cut short, or not ours.
    public let unreadableLines: Int

    private let path: String
    private let files: any RecordFiles
    private let idleLines: Int
    /// `nil` before it is open, and after a clean end.
    private var file: RecordFile?
    private var living: [Incarnation: Entry]
    private var lines: Int
    private var size: Int
    private var numbers: IncarnationNumbers

    /// More lines than this, and more than twice those needed, are written anew.
    static let idleLines = 256
    /// A record is at most this long; no engine of ours writes a longer one. 16 MiB hold more than
    /// 100,000 launches.
    static let bytesLimit = 16 << 20

    /// Opens the record, reads what an earlier engine left, and drops what is of an earlier boot.
    ///
    /// - Parameter directory: The project's state directory. Only the holder of the project's lock
    ///   may open the record.
    /// - Throws: `.system` when it cannot be read or written, or is longer than 16 MiB.
    public convenience init(in directory: String) throws(ProjectError) {
        try self.init(in: directory, through: SystemRecordFiles())
    }

    /// A record on a disk of the test's choice, perhaps one that is written anew, and reserves
    /// numbers, more often.
    init(
        in directory: String, through files: any RecordFiles,
        idleLines: Int = LaunchRecord.idleLines,
        block: UInt64 = IncarnationNumbers.block
    ) throws(ProjectError) {
        path = "\(directory)/launches"
        self.files = files
        self.idleLines = idleLines
        let found = try Self.read(path, files)
        let boot = ProcessStamp.bootID()
        leftovers = found.entries.filter { $0.process.boot == boot }
        unreadableLines = found.unreadable
        living = [:]
        for entry in leftovers { living[entry.incarnation] = entry }
        let last = found.entries.map(\.incarnation.number).max() ?? 0
        numbers = try IncarnationNumbers(
            in: directory, after: last, through: files, block: block)
        lines = 0
        size = 0
        try compact()
    }

    /// The number of the next launch. Never given twice in this project, not even by an engine
    /// that starts after this one was killed.
    ///
    /// - Throws: `.system` when the numbers cannot be reserved on disk; then nothing may be
    ///   launched.
    public func nextIncarnation() throws(ProjectError) -> Incarnation {
        Incarnation(try numbers.next())
    }

    /// Lets a launch have this number, which is above all before it.
    ///
    /// - Throws: `.system` when it cannot be reserved on disk; then it may not be launched.
    public func reserve(_ incarnation: Incarnation) throws(ProjectError) {
        try numbers.use(incarnation.number)
    }

    /// Adds a launch, right after it happened.
    ///
    /// - Throws: `.system` when the line could not be written whole; it is then taken back, and an
    ///   engine that comes after a crash knows of the launch only by its token.
    public func add(_ entry: Entry) throws(ProjectError) {
        guard let file else { return }
        living[entry.incarnation] = entry
        if lines > idleLines, lines > 2 * living.count { return try compact() }
        let line = entry.line
        do { try file.append(line) } catch {
            takeBack(file)
            throw .system(doing: "record the launch of \"\(entry.service)\"", error)
        }
        lines += 1
        size += line.count
    }

    /// Takes back a line that was not written whole. Where even that fails, the record is written
    /// anew with the next launch.
    private func takeBack(_ file: RecordFile) {
        do { try file.truncate(to: size) } catch { lines = .max }
    }

    /// Drops a launch whose tree is empty: an own one, or a leftover that was dealt with.
    public func forget(_ incarnation: Incarnation) { living[incarnation] = nil }

    /// Ends the record at a clean end: it is removed, and exactly the numbers that were used are
    /// remembered. Launches not forgotten (survivors of the stop) keep it in place.
    public func finish() throws(ProjectError) {
        guard file != nil else { return }
        if living.isEmpty {
            file = nil
            do { try files.remove(path) } catch {
                throw .system(doing: "remove the launch record \(path)", error)
            }
        } else {
            try compact()
        }
        try numbers.settle()
    }

    // MARK: - The file

    /// Writes what is needed into a new file and puts it in place of the old one. The new one is
    /// kept open from the start: if it had to be opened by its name, that could fail, and the next
    /// lines would go into a file without a name.
    private func compact() throws(ProjectError) {
        let entries = living.values.sorted { $0.incarnation < $1.incarnation }
        let content = entries.flatMap(\.line)
        file = try files.replace(path, with: content, durably: false)
        lines = entries.count
        size = content.count
    }

    /// Launches whose main process runs, by the record in this state directory: where no engine
    /// runs, what one that was killed left. For people: a record that cannot be read has none.
    public static func living(in directory: String) -> [Entry] {
        do {
            let boot = ProcessStamp.bootID()
            return try read("\(directory)/launches", SystemRecordFiles()).entries
                .filter { $0.process.boot == boot && $0.process.isAlive }
        } catch {
            return []
        }
    }

    private static func read(
        _ path: String, _ files: any RecordFiles
    ) throws(ProjectError) -> (entries: [Entry], unreadable: Int) {
        let found: [UInt8]?
        do { found = try files.content(of: path, atMost: bytesLimit + 1) } catch {
            throw .system(doing: "read the launch record \(path)", error)
        }
        guard let content = found else { return ([], 0) }
        guard content.count <= bytesLimit else {
            throw .system(
                doing: "read the launch record", SystemError("read", path, code: EFBIG))
        }
        // What follows the last newline was cut short; without it the last part is empty.
        var parts = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let torn = parts.popLast().map { $0.isEmpty ? 0 : 1 } ?? 0
        let entries = parts.compactMap { Entry(line: $0) }
        return (entries, parts.count - entries.count + torn)
    }
}

extension LaunchRecord.Entry {
    /// `1 BOOT PID START TOKEN INCARNATION NAME`: the format's number, then the parts, the token in
    /// hexadecimal, the name with everything but letters, digits and `._-` percent-encoded.
    var line: [UInt8] {
        let mark = String(token, radix: 16)
        let name = PercentCoding.encode(service.text)
        let text =
            "1 \(process.boot) \(process.pid) \(process.startTime) \(mark) "
            + "\(incarnation.number) \(name)\n"
        return Array(text.utf8)
    }

    /// An entry from its line, without the newline; `nil` for a line that is none.
    init?(line: ArraySlice<UInt8>) {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 7, words[0] == "1", let pid = Int32(words[2]), pid > 0,
            let start = UInt64(words[3]), let token = UInt64(words[4], radix: 16),
            let number = UInt64(words[5]), number < IncarnationNumbers.limit / 2,
            let name = PercentCoding.decode(words[6].utf8),
            !words[1].isEmpty, !name.isEmpty
        else { return nil }
        self.init(
            process: ProcessStamp(boot: words[1], pid: pid, startTime: start), token: token,
            incarnation: Incarnation(number), service: ServiceName(name))
    }
}
