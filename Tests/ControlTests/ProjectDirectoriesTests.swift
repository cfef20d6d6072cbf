import Glibc
import Testing

@testable import Orchestrator

@Suite("ProjectDirectories", .timeLimit(.minutes(1)))
struct ProjectDirectoriesTests {
    private let scratch = Scratch()

    private func directories(
        _ environment: [String: String] = [:], state: String? = nil, user: UInt32? = nil
    ) throws -> ProjectDirectories {
        var all = ["XDG_RUNTIME_DIR": scratch.path, "XDG_STATE_HOME": "\(scratch.path)/state"]
        all.merge(environment) { $1 }
        return try ProjectDirectories(
            ProjectIdentity(file: "/a", name: "shop"), stateDirectory: state,
            environment: all, user: user)
    }

    private func mode(_ path: String) -> mode_t? { Scratch.mode(of: path).map { $0 & 0o7777 } }

    @Test("everything is made with its permissions, whatever the umask")
    func permissions() throws {
        let places = try directories()
        #expect(try places.ensure())
        #expect(try !places.ensure())
        let outer: mode_t = geteuid() == 0 ? 0o711 : 0o700
        #expect(mode(places.runtime) == outer)
        #expect(mode(places.control) == 0o700)
        #expect(mode(places.notify) == 0o711)
        #expect(mode(places.state) == 0o700)
        #expect(places.controlSocket.hasPrefix(places.control))
        #expect(places.lockFile == "\(places.state)/lock")
    }

    @Test("permissions that somebody loosened are put right")
    func loosened() throws {
        let places = try directories()
        try places.ensure()
        unsafe chmod(places.control, 0o777)
        try places.ensure()
        #expect(mode(places.control) == 0o700)
    }

    @Test("CTL-8: what is removed meanwhile is made again")
    func removed() throws {
        let places = try directories()
        try places.ensure()
        Scratch.remove(places.notify)
        #expect(try places.ensure())
        Scratch.remove(scratch.path)
        unsafe mkdir(scratch.path, 0o700)
        #expect(try places.ensure())
        #expect(mode(places.notify) == 0o711)
    }

    @Test("a clean end leaves the state and nothing else; another project's directories stay")
    func cleanEnd() throws {
        let places = try directories()
        let other = try ProjectDirectories(
            ProjectIdentity(file: "/a", name: "other"), stateDirectory: nil,
            environment: [
                "XDG_RUNTIME_DIR": scratch.path, "XDG_STATE_HOME": "\(scratch.path)/state",
            ])
        try places.ensure()
        try other.ensure()
        Scratch.write("x", to: "\(places.notify)/n1")
        #expect(places.removeRuntime().isEmpty)
        #expect(Scratch.mode(of: places.runtime) == nil)
        #expect(Scratch.isDirectory(other.control))
        #expect(other.removeRuntime().isEmpty)
        #expect(Scratch.names(in: scratch.path) == ["state"])
        #expect(places.removeRuntime().isEmpty)
    }

    @Test("CTL-7: a link, a file or another user's directory in our place is refused")
    func insecure() throws {
        let places = try directories()
        let elsewhere = "\(scratch.path)/elsewhere"
        unsafe mkdir(elsewhere, 0o700)
        unsafe symlink(elsewhere, "\(scratch.path)/orchestrator")
        expectInsecure { try places.ensure() }
        #expect(Scratch.names(in: elsewhere).isEmpty)
        unsafe unlink("\(scratch.path)/orchestrator")
        Scratch.write("", to: "\(scratch.path)/orchestrator")
        expectInsecure { try places.ensure() }
        unsafe unlink("\(scratch.path)/orchestrator")
        try places.ensure()
        let stranger = try directories(["TMPDIR": scratch.path], user: geteuid() + 1)
        #expect(stranger.runtime.hasPrefix("\(scratch.path)/orchestrator-\(geteuid() + 1)/"))
        #expect(stranger.runtimeRemark != nil)
        expectInsecure { try stranger.ensure() }
    }

    private func expectInsecure(_ body: () throws -> some Any) {
        do {
            _ = try body()
            Issue.record("it was used")
        } catch ProjectError.insecure {} catch { Issue.record("\(error)") }
    }

    @Test("CTL-7: a base where everybody may rename is refused, unless it is sticky")
    func worldWritable() throws {
        let base = "\(scratch.path)/tmp"
        unsafe mkdir(base, 0o700)
        let places = try directories(["XDG_RUNTIME_DIR": base])
        unsafe chmod(base, 0o777)
        expectInsecure { try places.ensure() }
        unsafe chmod(base, 0o1777)
        #expect(throws: Never.self) { try places.ensure() }
    }

    @Test("where things are follows the environment and the user")
    func places() throws {
        let user = try directories(
            [
                "XDG_RUNTIME_DIR": "relative", "XDG_STATE_HOME": "", "HOME": "/people/u",
                "TMPDIR": "/t/",
            ],
            user: 4711)
        #expect(user.runtime == "/t/orchestrator-4711/\(user.identity.id)")
        #expect(user.state == "/people/u/.local/state/orchestrator/\(user.identity.id)")
        let root = try directories(
            ["XDG_RUNTIME_DIR": "/run/user/0", "XDG_STATE_HOME": "state"], user: 0)
        #expect(root.state == "/var/lib/orchestrator/\(root.identity.id)")
        #expect(root.runtimeRemark != nil)
        #expect(!root.runtime.hasPrefix("/run/user/0"))
        let own = try directories(state: "/srv/shop")
        #expect(own.state == "/srv/shop")
        #expect(throws: ProjectError.noPlace(kind: "state", variable: "XDG_STATE_HOME")) {
            try directories(["XDG_STATE_HOME": ""], user: 4711)
        }
    }

    @Test("CTL-1: a notify path of 107 bytes is used, a longer one refused with path and limit")
    func longPaths() throws {
        let id = try ProjectIdentity(file: "/a", name: "shop").id
        let rest = "/orchestrator/\(id)/notify/".utf8.count + ProjectDirectories.notifyNameLimit
        for (count, fits) in [(107, true), (108, false), (109, false), (158, false)] {
            let base = String(repeating: "b", count: count - rest - scratch.path.utf8.count - 1)
            let path = "\(scratch.path)/\(base)"
            unsafe mkdir(path, 0o700)
            do {
                let places = try directories(["XDG_RUNTIME_DIR": path])
                #expect(fits)
                try places.ensure()
            } catch ProjectError.pathTooLong(let refused, let bytes, let limit, _) {
                #expect(
                    !fits && bytes > 107 && bytes <= count && limit == 107
                        && refused.hasPrefix(path))
                #expect(Scratch.names(in: path).isEmpty)
            }
        }
    }

    @Test("a state directory that cannot be made is named")
    func stateErrors() throws {
        Scratch.write("", to: "\(scratch.path)/file")
        do {
            try directories(state: "\(scratch.path)/file/state").ensure()
            Issue.record("it was made")
        } catch { #expect("\(error)".contains("\(scratch.path)/file")) }
    }
}
