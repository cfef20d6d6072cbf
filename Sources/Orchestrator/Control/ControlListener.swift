import Glibc
import Stoic

/// The listening socket under its path, ours from the bind to the close.
///
/// "The name exists" and "somebody answers" are different questions: a socket nobody answers on is
/// what a killed engine left, and is replaced; one that is answered, and a name that means anything
/// but a socket, are left alone.
struct ControlListener: ~Copyable {
    /// The socket's path.
    let path: String
    /// The listening socket.
    let descriptor: CInt
    private let place: Place

    /// What a path meant at some time.
    private struct Place: Equatable {
        var device: dev_t
        var file: ino_t
    }

    /// Connections the kernel holds until we accept them.
    private static let backlog: CInt = 128

    /// Takes the path and listens. Only the holder of the project's lock may call this: the probe
    /// of a socket that is just being made would find nobody.
    init(path: String) throws(ControlError) {
        let bytes = path.utf8.count
        guard bytes <= ProjectDirectories.socketPathLimit else {
            throw .pathTooLong(
                path: path, bytes: bytes, limit: ProjectDirectories.socketPathLimit)
        }
        try Self.clear(path)
        guard let number = UnixSocket.make(isBlocking: false) else {
            throw .system(path: path, .latest("socket", path))
        }
        var isBound = false
        do throws(ControlError) {
            // Before the bind, the mode of the descriptor becomes that of the file: it is never
            // open to others, not even for a moment.
            try Self.require(fchmod(number, 0o600) == 0 ? 0 : errno, "fchmod", path)
            try Self.require(UnixSocket.bind(number, to: path), "bind", path)
            isBound = true
            try Self.require(listen(number, Self.backlog) == 0 ? 0 : errno, "listen", path)
            guard let place = Self.place(path) else {
                throw .system(path: path, .latest("stat", path))
            }
            self.place = place
        } catch {
            // SAFETY: the path is a text of ours, which lives through the call.
            // Under the project's lock nobody else has put another one there since.
            if isBound { unsafe unlink(path) }
            close(number)
            throw error
        }
        self.path = path
        descriptor = number
    }

    /// Whether the path still leads to this socket.
    var isInPlace: Bool { Self.place(path) == place }

    /// Removes the name, if it is still ours, and stops listening.
    deinit {
        // SAFETY: the path is a text of ours, which lives through the call.
        if Self.place(path) == place { unsafe unlink(path) }
        Glibc.close(descriptor)
    }

    private static func require(
        _ code: CInt, _ call: String, _ path: String
    ) throws(ControlError) {
        if code != 0 { throw .system(path: path, SystemError(call, path, code: code)) }
    }

    private static func place(_ path: String) -> Place? {
        var status = stat()
        // SAFETY: the path lives through the call, which fills a variable of the size it expects.
        guard unsafe lstat(path, &status) == 0 else { return nil }
        return Place(device: status.st_dev, file: status.st_ino)
    }

    /// Removes what a killed engine left; refuses everything else.
    private static func clear(_ path: String) throws(ControlError) {
        var status = stat()
        // SAFETY: the path lives through the call, which fills a variable of the size it expects.
        guard unsafe lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw .system(path: path, .latest("stat", path))
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .occupiedByFile(path: path) }
        guard let probe = UnixSocket.make(isBlocking: false) else {
            throw .system(path: path, .latest("socket", path))
        }
        defer { close(probe) }
        switch UnixSocket.connect(probe, to: path) {
        case ECONNREFUSED:
            guard unsafe unlink(path) == 0 || errno == ENOENT else {
                throw .system(path: path, .latest("unlink", path))
            }
        case ENOENT: break
        case 0: throw .occupiedByListener(path: path, UnixSocket.peer(of: probe))
        // Its backlog is full, it is of another type, or closed to us: alive in any case.
        default: throw .occupiedByListener(path: path, nil)
        }
    }
}
