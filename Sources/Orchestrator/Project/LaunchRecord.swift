internal import EventLoop
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

    private let directory: String
    private let path: String
    private var file: CInt
    private var living: [Incarnation: Entry]
    private var lines: Int
    private var size: off_t
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
    public init(in directory: String) throws(ProjectError) {
        self.directory = directory
        path = "\(directory)/launches"
        let found = try Self.read(path)
        let boot = ProcessStamp.bootID()
        leftovers = found.entries.filter { $0.process.boot == boot }
        unreadableLines = found.unreadable
        living = [:]
        for entry in leftovers { living[entry.incarnation] = entry }
        let last = found.entries.map(\.incarnation.number).max() ?? 0
        numbers = try IncarnationNumbers(in: directory, after: last)
        file = -1
        lines = 0
        size = 0
        try compact()
    }

    deinit { if file >= 0 { close(file) } }

    /// The number of the next launch. Never given twice in this project, not even by an engine
    /// that starts after this one was killed.
    ///
    /// - Throws: `.system` when the numbers cannot be reserved on disk; then nothing may be
    ///   launched.
    public func nextIncarnation() throws(ProjectError) -> Incarnation {
        Incarnation(try numbers.next())
    }

    /// Adds a launch, right after it happened.
    ///
    /// - Throws: `.system` when the line could not be written whole; it is then taken back, and an
    ///   engine that comes after a crash knows of the launch only by its token.
    public func add(_ entry: Entry) throws(ProjectError) {
        guard file >= 0 else { return }
        living[entry.incarnation] = entry
        if lines > Self.idleLines, lines > 2 * living.count { return try compact() }
        let line = entry.line
        let count = retryingInterrupts { unsafe write(file, line, line.count) }
        guard count == line.count else {
            let failure = SystemError("write", path, code: count < 0 ? errno : ENOSPC)
            if ftruncate(file, size) != 0 { lines = .max }  // The torn line ends at the next write.
            throw .system(doing: "record the launch of \"\(entry.service)\"", failure)
        }
        lines += 1
        size += off_t(count)
    }

    /// Drops a launch whose tree is empty: an own one, or a leftover that was dealt with.
    public func forget(_ incarnation: Incarnation) { living[incarnation] = nil }

    /// Ends the record at a clean end: it is removed, and exactly the numbers that were used are
    /// remembered. Launches not forgotten (survivors of the stop) keep it in place.
    public func finish() throws(ProjectError) {
        guard file >= 0 else { return }
        if living.isEmpty {
            close(file)
            file = -1
            guard unsafe unlink(path) == 0 || errno == ENOENT else {
                throw .system(doing: "remove the launch record \(path)", .latest("unlink", path))
            }
        } else {
            try compact()
        }
        try numbers.settle()
    }

    // MARK: - The file

    /// Writes what is needed into a new file and puts it in place of the old one.
    private func compact() throws(ProjectError) {
        let entries = living.values.sorted { $0.incarnation < $1.incarnation }
        let content = entries.flatMap(\.line)
        try replaceFile(path, with: content, durably: false)
        let number = unsafe open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
        guard number >= 0 else {
            throw .system(doing: "open the launch record \(path)", .latest("open", path))
        }
        if file >= 0 { close(file) }
        file = number
        lines = entries.count
        size = off_t(content.count)
    }

    /// Launches whose main process runs, by the record in this state directory: where no engine
    /// runs, what one that was killed left. For people: a record that cannot be read has none.
    public static func living(in directory: String) -> [Entry] {
        do {
            let boot = ProcessStamp.bootID()
            return try read("\(directory)/launches").entries
                .filter { $0.process.boot == boot && $0.process.isAlive }
        } catch {
            return []
        }
    }

    private static func read(
        _ path: String
    ) throws(ProjectError) -> (entries: [Entry], unreadable: Int) {
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if number < 0, errno == ENOENT { return ([], 0) }
        guard number >= 0 else {
            throw .system(doing: "read the launch record \(path)", .latest("open", path))
        }
        let file = OwnedDescriptor(owning: number)
        guard let content = bytes(of: file.number, atMost: bytesLimit + 1) else {
            throw .system(doing: "read the launch record \(path)", .latest("read", path))
        }
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
            let number = UInt64(words[5]), let name = PercentCoding.decode(words[6].utf8),
            !words[1].isEmpty, !name.isEmpty
        else { return nil }
        self.init(
            process: ProcessStamp(boot: words[1], pid: pid, startTime: start), token: token,
            incarnation: Incarnation(number), service: ServiceName(name))
    }
}
