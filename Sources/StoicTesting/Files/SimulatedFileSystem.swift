import Glibc
import Stoic
import Synchronization

/// Files in memory that fail, tear and crash as a test wants: for code that must keep what it was
/// given, whatever happens.
///
/// It is as strict as POSIX allows a file system to be. A write is durable after a `sync` of its
/// file, a name after a `sync` of its directory, and neither before. Renaming is atomic.
///
/// ```swift
/// for call in 1... {                             // go down before each call there is
///     let disk = SimulatedFileSystem()
///     disk.crash(beforeCall: call)
///     do {
///         let file = try disk.open("state", .create)
///         _ = try disk.write(file, [1, 2, 3])
///         try disk.sync(file)
///     } catch is SimulatedCrash {}
///     if !disk.isDown { break }
///     disk.restart(after: .everything)
///     #expect(disk.contents("state") == nil)     // its directory was never synced
/// }
/// ```
/// Paths are relative and have at most one directory, which exists once it is opened.
public final class SimulatedFileSystem: Sendable {
    /// An open file or directory.
    public struct Descriptor: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// What a path is opened for.
    public enum Mode: Hashable, Sendable {
        /// To read a file that is there.
        case read
        /// To write a file from its start; it is made, or emptied.
        case replace
        /// To write a file that must not be there yet.
        case create
        /// To sync a directory.
        case directory
    }

    fileprivate enum Open {
        case file(Int, position: Int)
        case directory(String)
    }

    fileprivate struct State {
        var disk = SimulatedDisk()
        var open: [Int: Open] = [:]
        var lastDescriptor = 2
        var faults: [(fault: FileFault, seen: Int)] = []
        var calls = 0
        var crashBefore: Int?
        var isDown = false
    }

    private let state = Mutex(State())

    /// An empty file system.
    public init() {}

    // MARK: What a test does

    /// Lets certain calls fail, from now on.
    public func arm(_ fault: FileFault) { state.withLock { $0.faults.append((fault, 0)) } }

    /// Disarms every fault.
    public func disarm() { state.withLock { $0.faults = [] } }

    /// The machine goes down before the call of this number, counted from now; the first is 1.
    public func crash(beforeCall number: Int) {
        state.withLock { $0.crashBefore = $0.calls + number }
    }

    /// Whether the machine is down.
    public var isDown: Bool { state.withLock { $0.isDown } }

    /// How many calls there were.
    public var callCount: Int { state.withLock { $0.calls } }

    /// How many descriptors are open.
    public var openCount: Int { state.withLock { $0.open.count } }

    /// The machine comes up again, after it went down or in the middle of anything: descriptors are
    /// gone, and so is what the crash took.
    public func restart(after loss: CrashLoss) {
        state.withLock { state in
            state.disk.crash(loss)
            state.open = [:]
            state.isDown = false
            state.crashBefore = nil
        }
    }

    /// What programs would read there; `nil` if there is no such file. Not a call.
    public func contents(_ path: String) -> [UInt8]? {
        let place = Place(path)
        return state.withLock { state in
            state.disk.directories[place.directory]?.names[place.name].map {
                state.disk.files[$0].bytes
            }
        }
    }

    // MARK: What a program does

    /// Opens a file or a directory.
    /// - Throws: `SystemError`: `ENOENT`, `EEXIST`, or what is armed; `SimulatedCrash`.
    public func open(_ path: String, _ mode: Mode) throws -> Descriptor {
        try call(.open) { state in
            state.lastDescriptor += 1
            state.open[state.lastDescriptor] = try Self.opened(path, mode, &state.disk)
            return Descriptor(number: state.lastDescriptor)
        }
    }

    /// Reads the next bytes; none at the end.
    /// - Throws: `SystemError`: `EBADF`, or what is armed; `SimulatedCrash`.
    public func read(_ descriptor: Descriptor, upTo count: Int) throws -> [UInt8] {
        try call(.read) { state in
            let (file, position) = try state.file(descriptor, "read")
            let bytes = Array(state.disk.files[file].bytes.dropFirst(position).prefix(count))
            state.open[descriptor.number] = .file(file, position: position + bytes.count)
            return bytes
        }
    }

    /// Writes at the descriptor's position.
    /// - Returns: How many bytes were written: perhaps fewer, where that is armed.
    /// - Throws: `SystemError`: `EBADF`, or what is armed; `SimulatedCrash`.
    public func write(_ descriptor: Descriptor, _ bytes: [UInt8]) throws -> Int {
        var cut: (keeping: Int, errno: Int32?) = (bytes.count, nil)
        return try call(.write, torn: { cut = ($0, $1) }) { state in
            let (file, position) = try state.file(descriptor, "write")
            let part = Array(bytes.prefix(cut.keeping))
            state.disk.files[file].write(part, at: position)
            state.open[descriptor.number] = .file(file, position: position + part.count)
            if let code = cut.errno { throw SystemError(errno: code, in: "write") }
            return part.count
        }
    }

    /// Cuts a file; the descriptor goes on at its new end. It counts as a write, and fails as one.
    /// - Throws: `SystemError`: `EBADF`, or what is armed; `SimulatedCrash`.
    package func truncate(_ descriptor: Descriptor, to count: Int) throws {
        try call(.write) { state in
            let (file, position) = try state.file(descriptor, "truncate")
            state.disk.files[file].truncate(to: count)
            state.open[descriptor.number] = .file(file, position: min(position, count))
        }
    }

    /// Makes a file's content, or a directory's names, survive a crash.
    /// - Throws: `SystemError`: `EBADF`, or what is armed; `SimulatedCrash`.
    public func sync(_ descriptor: Descriptor) throws {
        try call(.sync, failed: { $0.failSync(descriptor) }) { try $0.sync(descriptor) }
    }

    /// Gives a file another name, in the place of what had it.
    /// - Throws: `SystemError`: `ENOENT`, `EXDEV` between directories, or what is armed;
    ///   `SimulatedCrash`.
    public func rename(_ path: String, to newPath: String) throws {
        try call(.rename) { state in
            let (old, new) = (Place(path), Place(newPath))
            guard old.directory == new.directory else {
                throw SystemError(errno: EXDEV, in: "rename")
            }
            guard state.disk.directories[old.directory]?.names[old.name] != nil else {
                throw SystemError(errno: ENOENT, in: "rename")
            }
            state.disk.directories[old.directory]?.change(.rename(old.name, to: new.name))
        }
    }

    /// Takes a file's name away.
    /// - Throws: `SystemError`: `ENOENT`, or what is armed; `SimulatedCrash`.
    public func unlink(_ path: String) throws {
        try call(.unlink) { state in
            let place = Place(path)
            guard state.disk.directories[place.directory]?.names[place.name] != nil else {
                throw SystemError(errno: ENOENT, in: "unlink")
            }
            state.disk.directories[place.directory]?.change(.unlink(place.name))
        }
    }

    /// The names in a directory, sorted.
    /// - Throws: `SystemError`: `ENOENT`, or what is armed; `SimulatedCrash`.
    public func list(_ directory: String) throws -> [String] {
        try call(.list) { state in
            guard let names = state.disk.directories[directory]?.names else {
                throw SystemError(errno: ENOENT, in: "list")
            }
            return names.keys.sorted()
        }
    }

    /// Closes a descriptor. Never fails, and is not counted as a call.
    public func close(_ descriptor: Descriptor) {
        _ = state.withLock { $0.open.removeValue(forKey: descriptor.number) }
    }
}

/// A path in two parts.
private struct Place {
    let directory: String
    let name: String

    init(_ path: String) {
        let parts = path.split(separator: "/")
        name = parts.last.map(String.init) ?? ""
        directory = parts.dropLast().joined(separator: "/")
    }
}

extension SimulatedFileSystem {
    /// Counts a call, and lets it go wrong or do its work.
    private func call<R: Sendable>(
        _ call: FileCall, torn: (Int, Int32?) -> Void = { _, _ in },
        failed: (inout State) -> Void = { _ in }, work: (inout State) throws -> R
    ) throws -> R {
        // `withLock` wants to send what it returns and throws; a result says both.
        let result: Result<R, any Error> = state.withLock { state in
            state.calls += 1
            if state.crashBefore == state.calls { state.isDown = true }
            if state.isDown { return .failure(SimulatedCrash(call: state.calls)) }
            switch state.effect(on: call) {
            case .fail(let code):
                failed(&state)
                return .failure(SystemError(errno: code, in: call.rawValue))
            case .tear(let keeping, let code): torn(keeping, code)
            case nil: break
            }
            do { return .success(try work(&state)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private static func opened(
        _ path: String, _ mode: Mode, _ disk: inout SimulatedDisk
    ) throws -> Open {
        if mode == .directory {
            if disk.directories[path] == nil { disk.directories[path] = SimulatedDirectory() }
            return .directory(path)
        }
        let place = Place(path)
        let existing = disk.directories[place.directory]?.names[place.name]
        switch (mode, existing) {
        case (.create, .some): throw SystemError(errno: EEXIST, in: "open")
        case (.read, nil): throw SystemError(errno: ENOENT, in: "open")
        case (.read, let file?): return .file(file, position: 0)
        case (.replace, let file?):
            disk.files[file].truncate()
            return .file(file, position: 0)
        case (.replace, nil), (.create, nil), (.directory, _):
            disk.files.append(SimulatedFile())
            let file = disk.files.count - 1
            disk.directories[place.directory, default: SimulatedDirectory()]
                .change(.link(place.name, file: file))
            return .file(file, position: 0)
        }
    }
}

extension SimulatedFileSystem.State {
    /// What is armed for this call; the first fault that applies.
    fileprivate mutating func effect(on call: FileCall) -> FileFault.Effect? {
        var effect: FileFault.Effect?
        for place in faults.indices where faults[place].fault.call == call {
            faults[place].seen += 1
            guard faults[place].fault.calls.contains(faults[place].seen) else { continue }
            effect = effect ?? faults[place].fault.effect
        }
        return effect
    }

    fileprivate func file(
        _ descriptor: SimulatedFileSystem.Descriptor, _ call: String
    ) throws -> (file: Int, position: Int) {
        guard case .file(let file, let position) = open[descriptor.number] else {
            throw SystemError(errno: EBADF, in: call)
        }
        return (file, position)
    }

    fileprivate mutating func sync(_ descriptor: SimulatedFileSystem.Descriptor) throws {
        switch open[descriptor.number] {
        case .file(let file, _): disk.files[file].sync()
        case .directory(let name): disk.directories[name]?.sync()
        case nil: throw SystemError(errno: EBADF, in: "sync")
        }
    }

    fileprivate mutating func failSync(_ descriptor: SimulatedFileSystem.Descriptor) {
        switch open[descriptor.number] {
        case .file(let file, _): disk.files[file].failSync()
        case .directory(let name): disk.directories[name]?.failSync()
        case nil: break
        }
    }
}
