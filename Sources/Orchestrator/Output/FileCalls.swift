import Stoic

internal import EventLoop
internal import Glibc

/// What makes two names the same file.
public struct FileIdentity: Hashable, Sendable {
    /// The device it is on.
    public var device: UInt64
    /// Its number there.
    public var inode: UInt64
}

/// What `stat` says of a file, as far as logs care.
struct FileFacts {
    var identity: FileIdentity
    var size: UInt64
    var links: UInt64
    var kind: Kind

    enum Kind { case regular, directory, other }

    fileprivate init(_ raw: stat) {
        identity = FileIdentity(device: UInt64(raw.st_dev), inode: UInt64(raw.st_ino))
        size = UInt64(max(raw.st_size, 0))
        links = UInt64(raw.st_nlink)
        switch raw.st_mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .directory
        default: kind = .other
        }
    }
}

/// The calls on files that logs and the journal make: each returns its errno as a `SystemError`,
/// is repeated when a signal interrupts it, and never waits for more than a disk.
enum FileCalls {
    /// Opens for appending; makes the file if it is missing, and the directories on the way to it.
    ///
    /// Never blocks on a FIFO, and never makes a terminal ours.
    static func openAppending(_ path: String) throws(SystemError) -> OwnedDescriptor {
        let flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        do { return try open(path, flags) } catch {
            guard error.code == ENOENT else { throw error }
            try makeDirectories(above: path)
            return try open(path, flags)
        }
    }

    /// Opens for reading; `nil` when there is no such file.
    static func openReading(_ path: String) throws(SystemError) -> OwnedDescriptor? {
        do { return try open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
    }

    /// Opens with these flags; a new file is readable and writable by its owner only, because
    /// services print secrets.
    static func open(_ path: String, _ flags: Int32) throws(SystemError) -> OwnedDescriptor {
        while true {
            // SAFETY: the path is a text of ours, which lives through the call.
            let number = unsafe Glibc.open(path, flags, 0o600)
            if number >= 0 { return OwnedDescriptor(owning: number) }
            let code = errno
            if code != EINTR { throw SystemError("open", path, code: code) }
        }
    }

    /// Makes every missing directory on the way to `path`, each for its owner only.
    static func makeDirectories(above path: String) throws(SystemError) {
        var reached = ""
        for part in path.split(separator: "/").dropLast() {
            reached += path.hasPrefix("/") || !reached.isEmpty ? "/\(part)" : String(part)
            // SAFETY: the path is a text of ours, which lives through the call.
            if unsafe mkdir(reached, 0o700) != 0, errno != EEXIST {
                throw SystemError("mkdir", reached, code: errno)
            }
        }
    }

    /// Writes as much of `bytes` as the file takes.
    /// - Returns: how many bytes were written, and the errno that kept the rest out.
    static func write(_ bytes: Span<UInt8>, to descriptor: Int32) -> (count: Int, code: Int32?) {
        // SAFETY: the bytes are read within the closure, from a place inside of them to their end.
        unsafe bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[done...])
                let count = unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
                if count > 0 { done += count }
                if count == 0 { return (done, EIO) }
                if count < 0, errno != EINTR { return (done, errno) }
            }
            return (done, nil)
        }
    }

    /// Reads up to `limit` bytes at `offset`; fewer only at the end of the file.
    static func read(
        _ descriptor: Int32, at offset: UInt64, limit: Int, named path: String
    ) throws(SystemError) -> [UInt8] {
        var code: Int32?
        // SAFETY: the kernel writes behind what it wrote before, within the capacity; as many bytes
        // are said to be there as it wrote.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            while count < limit {
                let start = unsafe buffer.baseAddress.map { unsafe $0 + count }
                let place = off_t(clamping: offset) + off_t(count)
                let got = unsafe pread(descriptor, start, limit - count, place)
                if got > 0 { count += got }
                if got == 0 { return }
                if got < 0, errno != EINTR {
                    code = errno
                    return
                }
            }
        }
        if let code { throw SystemError("read", path, code: code) }
        return bytes
    }

    /// What is behind an open descriptor.
    static func facts(of descriptor: Int32, named path: String) throws(SystemError) -> FileFacts {
        var raw = stat()
        // SAFETY: the call fills a variable of the size it expects, and keeps no pointer.
        guard unsafe fstat(descriptor, &raw) == 0 else {
            throw SystemError("stat", path, code: errno)
        }
        return FileFacts(raw)
    }

    /// What is behind a name, links followed; `nil` when nothing is.
    static func facts(at path: String) throws(SystemError) -> FileFacts? {
        var raw = stat()
        // SAFETY: the path lives through the call, which fills a variable of the size it expects.
        if unsafe stat(path, &raw) == 0 { return FileFacts(raw) }
        let code = errno
        if code == ENOENT || code == ENOTDIR { return nil }
        throw SystemError("stat", path, code: code)
    }

    /// Gives a file a new name, over a file that has it.
    static func rename(_ old: String, to new: String) throws(SystemError) {
        // SAFETY: both paths are texts of ours, which live through the call.
        guard unsafe Glibc.rename(old, new) == 0 else {
            throw SystemError("rename", old, code: errno)
        }
    }

    /// Removes a name; that there is none is fine.
    static func remove(_ path: String) throws(SystemError) {
        // SAFETY: the path is a text of ours, which lives through the call.
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw SystemError("remove", path, code: errno)
        }
    }

    /// Cuts a file to `size` bytes.
    static func truncate(
        _ descriptor: Int32, to size: UInt64, named path: String
    ) throws(SystemError) {
        guard ftruncate(descriptor, off_t(clamping: size)) == 0 else {
            throw SystemError("truncate", path, code: errno)
        }
    }

    /// The name with every link on the way resolved; `path` itself when that cannot be done, as for
    /// a file that does not exist yet.
    static func resolved(_ path: String) -> String {
        // SAFETY: the text is allocated for us, copied, and freed once.
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
