import Glibc
import Stoic
import StoicTesting
import Testing

@Suite("simulated file system", .timeLimit(.minutes(2)))
struct FileSystemTests {
    /// Which step of a save is left out or done wrongly.
    enum Flaw: CaseIterable, Sendable {
        case none, noSync, noDirectorySync, inPlace, syncAgain, ignoresShortWrites
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// Saves as a file is saved that must survive: write beside, sync, rename, sync the directory.
    private func save(_ text: String, _ flaw: Flaw, on disk: SimulatedFileSystem) throws {
        let file = try disk.open(flaw == .inPlace ? "state" : "state.new", .replace)
        defer { disk.close(file) }
        var left = bytes(text)
        while !left.isEmpty {
            left.removeFirst(try disk.write(file, left))
            if flaw == .ignoresShortWrites { break }
        }
        if flaw != .noSync {
            do { try disk.sync(file) } catch let error as SystemError {
                guard flaw == .syncAgain else { throw error }
                try disk.sync(file)
            }
        }
        if flaw != .inPlace { try disk.rename("state.new", to: "state") }
        guard flaw != .noDirectorySync else { return }
        let directory = try disk.open("", .directory)
        defer { disk.close(directory) }
        try disk.sync(directory)
    }

    private func load(_ disk: SimulatedFileSystem) -> String? {
        disk.contents("state").map { String(decoding: $0, as: UTF8.self) }
    }

    /// Saves "old", then "new" with a crash before every call in turn and after the last.
    /// - Returns: What is there afterwards that should not be.
    private func wrongs(_ flaw: Flaw, faults: [FileFault] = []) throws -> [String] {
        var wrongs: [String] = []
        for loss in CrashLoss.all {
            var number = 0
            var wasDown = true
            while wasDown {
                number += 1
                let disk = SimulatedFileSystem()
                try save("the old one", .none, on: disk)
                for fault in faults { disk.arm(fault) }
                disk.crash(beforeCall: number)
                var isSaved = false
                do {
                    try save("a new one", flaw, on: disk)
                    isSaved = true
                } catch is SimulatedCrash {} catch is SystemError {}
                wasDown = disk.isDown
                disk.restart(after: loss)
                let found = load(disk) ?? "nothing"
                let allowed = isSaved ? ["a new one"] : ["the old one", "a new one"]
                if !allowed.contains(found) { wrongs.append("call \(number), \(loss): \(found)") }
            }
        }
        return wrongs
    }

    @Test("TST-18: write, sync, rename, sync survives a crash before every call, whatever it takes")
    func right() throws { #expect(try wrongs(.none) == []) }

    @Test(
        "TST-18: a save without a sync, without one of the directory, or in place, is caught",
        arguments: [Flaw.noSync, .noDirectorySync, .inPlace])
    func caught(_ flaw: Flaw) throws { #expect(try wrongs(flaw) != []) }

    @Test("TST-19: a sync that failed has lost its data for good: trying again is caught")
    func failedSync() throws {
        let fault = FileFault.fail(.sync, .only(1), errno: EIO)
        #expect(try wrongs(.none, faults: [fault]) == [])
        #expect(try wrongs(.syncAgain, faults: [fault]) != [])
    }

    @Test("TST-20: every call can fail, and the old file is kept", arguments: FileCall.allCases)
    func failing(_ call: FileCall) throws {
        for number in 1...3 {
            let fault = FileFault.fail(call, .only(number), errno: ENOSPC)
            #expect(try wrongs(.none, faults: [fault]) == [], "\(call) \(number)")
        }
    }

    @Test("TST-20: a write may be short, or fail after a part; who ignores that is caught")
    func torn() throws {
        let short = FileFault.tearWrite(.only(1), keeping: 3)
        #expect(try wrongs(.none, faults: [short]) == [])
        #expect(try wrongs(.ignoresShortWrites, faults: [short]) != [])
        let full = FileFault.tearWrite(.from(1), keeping: 3, errno: ENOSPC)
        #expect(try wrongs(.none, faults: [full]) == [])
    }

    @Test("TST-21: after a crash every call fails until the restart, and descriptors are gone")
    func down() throws {
        let disk = SimulatedFileSystem()
        let file = try disk.open("d/f", .create)
        disk.crash(beforeCall: 2)
        #expect(try disk.write(file, [1, 2, 3]) == 3)
        #expect(throws: SimulatedCrash(call: 3)) { try disk.sync(file) }
        #expect(throws: SimulatedCrash(call: 4)) { try disk.unlink("d/f") }
        disk.restart(after: .nothing)
        #expect(disk.openCount == 0)
        #expect(throws: SystemError(errno: EBADF, in: "read")) { try disk.read(file, upTo: 1) }
        #expect(disk.contents("d/f") == [1, 2, 3])
    }

    @Test("files work as files do")
    func plain() throws {
        let disk = SimulatedFileSystem()
        #expect(throws: SystemError(errno: ENOENT, in: "open")) { try disk.open("a", .read) }
        let file = try disk.open("a", .create)
        #expect(throws: SystemError(errno: EEXIST, in: "open")) { try disk.open("a", .create) }
        #expect(try disk.write(file, bytes("hello")) == 5)
        disk.close(file)
        let again = try disk.open("a", .read)
        #expect(try disk.read(again, upTo: 3) == bytes("hel"))
        #expect(try disk.read(again, upTo: 3) == bytes("lo"))
        #expect(try disk.read(again, upTo: 3) == [])
        try disk.rename("a", to: "b")
        #expect(try disk.list("") == ["b"])
        #expect(throws: SystemError(errno: EXDEV, in: "rename")) { try disk.rename("b", to: "d/b") }
        #expect(throws: SystemError(errno: ENOENT, in: "rename")) { try disk.rename("a", to: "b") }
        try disk.unlink("b")
        #expect(throws: SystemError(errno: ENOENT, in: "unlink")) { try disk.unlink("b") }
        // A file without a name can be read by those who have it open.
        #expect(try disk.list("") == [])
        #expect(throws: SystemError(errno: ENOENT, in: "list")) { try disk.list("nowhere") }
    }
}
