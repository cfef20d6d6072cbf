import Glibc
import Stoic
import StoicTesting

@testable import Orchestrator

/// A disk of the test's making behind the calls of the launch record. It notes every call, so that
/// a test knows when it has tried them all. The error of a machine that is down is an `EIO`.
final class RecordDisk: RecordFiles {
    let disk = SimulatedFileSystem()
    /// The calls since they were last forgotten, and the path of each.
    private(set) var calls: [(call: FileCall, path: String)] = []
    private var open: [CInt: SimulatedFileSystem.Descriptor] = [:]
    private var paths: [CInt: String] = [:]
    private var last: CInt = 2

    func count(of call: FileCall) -> Int { calls.count { $0.call == call } }

    func forgetCalls() { calls = [] }

    func openReading(_ path: String) throws(SystemError) -> CInt? {
        do { return try opened(path, .read) } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
    }

    func create(_ path: String) throws(SystemError) -> CInt { try opened(path, .create) }

    func openDirectory(_ path: String) throws(SystemError) -> CInt { try opened(path, .directory) }

    func read(
        _ file: CInt, at offset: Int, limit: Int, named path: String
    ) throws(SystemError) -> [UInt8] {
        // Each file is read from its start to its end, so the offset is where it stands.
        try attempt(.read, path) { try disk.read(try descriptor(file), upTo: limit) }
    }

    func append(_ bytes: [UInt8], to file: CInt) -> (count: Int, code: CInt?) {
        var done = 0
        while done < bytes.count {
            let rest = Array(bytes[done...])
            do {
                let count = try attempt(.write, paths[file] ?? "") {
                    try disk.write(try descriptor(file), rest)
                }
                if count == 0 { return (done, EIO) }
                done += count
            } catch { return (done, error.code) }
        }
        return (done, nil)
    }

    func sync(_ file: CInt, named path: String) throws(SystemError) {
        try attempt(.sync, path) { try disk.sync(try descriptor(file)) }
    }

    func truncate(_ file: CInt, to size: Int, named path: String) throws(SystemError) {
        try attempt(.write, path) { try disk.truncate(try descriptor(file), to: size) }
    }

    func rename(_ old: String, to new: String) throws(SystemError) {
        try attempt(.rename, old) { try disk.rename(within(old), to: within(new)) }
        for (number, path) in paths where path == old { paths[number] = new }
    }

    func remove(_ path: String) throws(SystemError) {
        do { try attempt(.unlink, path) { try disk.unlink(within(path)) } } catch {
            guard error.code == ENOENT else { throw error }
        }
    }

    func close(_ file: CInt) {
        paths[file] = nil
        if let descriptor = open.removeValue(forKey: file) { disk.close(descriptor) }
    }

    private func opened(
        _ path: String, _ mode: SimulatedFileSystem.Mode
    ) throws(SystemError) -> CInt {
        let descriptor = try attempt(.open, path) { try disk.open(within(path), mode) }
        last += 1
        open[last] = descriptor
        paths[last] = path
        return last
    }

    private func descriptor(_ file: CInt) throws -> SimulatedFileSystem.Descriptor {
        guard let descriptor = open[file] else { throw SystemError(errno: EBADF, in: "disk") }
        return descriptor
    }

    /// The simulated disk has no root: its paths are relative.
    private func within(_ path: String) -> String { String(path.drop { $0 == "/" }) }

    private func attempt<R>(
        _ call: FileCall, _ path: String, _ body: () throws -> R
    ) throws(SystemError) -> R {
        calls.append((call, path))
        do { return try body() } catch {
            let failure = error as? SystemError
            throw SystemError(call.rawValue, path, code: failure?.code ?? EIO)
        }
    }
}
