internal import EventLoop
import Glibc
import Stoic

/// The calls on files that the launch record and the count of launches make.
///
/// Everything they promise rests on these few calls, so tests put a disk in their place that fails
/// at each of them. A descriptor is used by one `RecordFile` alone.
protocol RecordFiles {
    /// Opens what is there for reading; a link is an error. `nil` when there is no such file.
    func openReading(_ path: String) throws(SystemError) -> CInt?
    /// Makes a file that must not be there yet, and opens it for appending.
    func create(_ path: String) throws(SystemError) -> CInt
    /// Opens a directory, to sync the names in it.
    func openDirectory(_ path: String) throws(SystemError) -> CInt
    /// Reads up to `limit` bytes at `offset`; fewer only at the end of the file.
    func read(
        _ file: CInt, at offset: Int, limit: Int, named path: String
    ) throws(SystemError) -> [UInt8]
    /// Writes as much as the file takes: how many bytes, and the errno that kept the rest out.
    func append(_ bytes: [UInt8], to file: CInt) -> (count: Int, code: CInt?)
    /// Makes a file's content, or a directory's names, survive a loss of power.
    func sync(_ file: CInt, named path: String) throws(SystemError)
    /// Cuts a file to `size` bytes.
    func truncate(_ file: CInt, to size: Int, named path: String) throws(SystemError)
    /// Gives a file a new name, over a file that has it.
    func rename(_ old: String, to new: String) throws(SystemError)
    /// Removes a name; that there is none is fine.
    func remove(_ path: String) throws(SystemError)
    /// Closes a descriptor.
    func close(_ file: CInt)
}

/// The files of the system.
struct SystemRecordFiles: RecordFiles {
    func openReading(_ path: String) throws(SystemError) -> CInt? {
        // Something that is no file may have the name; it must not make us wait.
        let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        do { return try FileCalls.open(path, flags).release() } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
    }

    func create(_ path: String) throws(SystemError) -> CInt {
        try FileCalls.open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC).release()
    }

    func openDirectory(_ path: String) throws(SystemError) -> CInt {
        try FileCalls.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC).release()
    }

    func read(
        _ file: CInt, at offset: Int, limit: Int, named path: String
    ) throws(SystemError) -> [UInt8] {
        try FileCalls.read(file, at: UInt64(offset), limit: limit, named: path)
    }

    func append(_ bytes: [UInt8], to file: CInt) -> (count: Int, code: CInt?) {
        FileCalls.write(bytes.span, to: file)
    }

    func sync(_ file: CInt, named path: String) throws(SystemError) {
        guard retryingInterrupts({ fsync(file) }) == 0 else { throw .latest("fsync", path) }
    }

    func truncate(_ file: CInt, to size: Int, named path: String) throws(SystemError) {
        try FileCalls.truncate(file, to: UInt64(size), named: path)
    }

    func rename(_ old: String, to new: String) throws(SystemError) {
        try FileCalls.rename(old, to: new)
    }

    func remove(_ path: String) throws(SystemError) { try FileCalls.remove(path) }

    func close(_ file: CInt) { Glibc.close(file) }
}

/// An open file of the record, closed when it is let go.
final class RecordFile {
    private let number: CInt
    private let path: String
    private let files: any RecordFiles

    init(owning number: CInt, _ path: String, _ files: any RecordFiles) {
        self.number = number
        self.path = path
        self.files = files
    }

    deinit { files.close(number) }

    /// All bytes, at most `limit` of them.
    func content(atMost limit: Int) throws(SystemError) -> [UInt8] {
        var content: [UInt8] = []
        while content.count < limit {
            let wanted = min(64 << 10, limit - content.count)
            let block = try files.read(number, at: content.count, limit: wanted, named: path)
            content += block
            if block.count < wanted { break }
        }
        return content
    }

    /// Adds all of `bytes`, or throws and may have added a part.
    func append(_ bytes: [UInt8]) throws(SystemError) {
        let (count, code) = files.append(bytes, to: number)
        guard count == bytes.count else {
            throw SystemError("write", path, code: code ?? ENOSPC)
        }
    }

    func sync() throws(SystemError) { try files.sync(number, named: path) }

    func truncate(to size: Int) throws(SystemError) {
        try files.truncate(number, to: size, named: path)
    }
}

extension RecordFiles {
    /// The content of a file, at most `limit` bytes; `nil` when there is none.
    func content(of path: String, atMost limit: Int) throws(SystemError) -> [UInt8]? {
        guard let number = try openReading(path) else { return nil }
        return try RecordFile(owning: number, path, self).content(atMost: limit)
    }

    /// Puts a new file in place of whatever has the name; at every moment the name means the whole
    /// old content or the whole new one.
    ///
    /// - Parameter durably: Whether it has to survive a loss of power from now on.
    /// - Returns: The new file, open for appending. It has the name for certain: nothing can fail
    ///   after it got it, unless `durably`.
    /// - Throws: `.system`; then the old file is in place, or `durably` the new one may be.
    @discardableResult
    func replace(
        _ path: String, with content: [UInt8], durably: Bool
    ) throws(ProjectError) -> RecordFile {
        let draft = "\(path).new"
        do {
            try remove(draft)
            let file = RecordFile(owning: try create(draft), draft, self)
            try file.append(content)
            if durably { try file.sync() }
            try rename(draft, to: path)
            if durably { try syncDirectory(of: path) }
            return file
        } catch { throw .system(doing: "write \(path)", error) }
    }

    /// Makes a rename durable. Some file systems cannot do that for a directory and say so; any
    /// other error means that the name may still be that of the old file after a loss of power.
    private func syncDirectory(of path: String) throws(SystemError) {
        let parent = "/" + path.split(separator: "/").dropLast().joined(separator: "/")
        let directory = RecordFile(owning: try openDirectory(parent), parent, self)
        do { try directory.sync() } catch {
            guard error.code == EINVAL || error.code == EOPNOTSUPP else { throw error }
        }
    }
}
