import CProcess
import Glibc
import Testing

@testable import Orchestrator

@Suite("Users, limits and places by name", .timeLimit(.minutes(1)))
struct NameTests {
    @Test("PRC-41: a user or group that does not exist")
    func unknown() {
        #expect(throws: IdentityError.noUser("no-such-user")) {
            try resolveIdentity(user: "no-such-user", group: nil)
        }
        #expect(throws: IdentityError.noGroup("no-such-group")) {
            try resolveIdentity(user: nil, group: "no-such-group")
        }
        let text = IdentityError.noUser("www").description
        #expect(text == "become user www: there is no such user")
    }

    @Test("a user by name, by number, and by a number without an entry")
    func users() throws {
        let root = try resolveIdentity(user: "root", group: nil)
        #expect(root.user == 0 && root.group == 0 && root.groups.contains(0))
        #expect(root.environment.map(\.name) == ["HOME", "USER", "LOGNAME", "SHELL"])
        #expect(try resolveIdentity(user: "0", group: nil) == root)
        let bare = try resolveIdentity(user: "3999999", group: "77")
        #expect(bare.user == 3_999_999 && bare.group == 77 && bare.groups == [77])
        #expect(bare.environment.isEmpty)
        let own = try resolveIdentity(user: nil, group: nil)
        #expect(own.user == geteuid() && own.group == getegid())
    }

    @Test("only root becomes somebody else, and a name for ourselves is no change")
    func privileges() throws {
        let other = Identity(user: 7, group: 7, groups: [7])
        #expect(throws: IdentityError.notPermitted("user www", own: 1000)) {
            try other.check(user: "www", group: nil, own: 1000, ownGroup: 7)
        }
        #expect(throws: IdentityError.notPermitted("group www", own: 7)) {
            try other.check(user: "me", group: "www", own: 7, ownGroup: 8)
        }
        try other.check(user: "me", group: "mine", own: 7, ownGroup: 7)
        try other.check(user: "www", group: "www", own: 0, ownGroup: 0)
        #expect(
            IdentityError.notPermitted("user www", own: 1000).description
                == "become user www: only root may, and orchestrator runs as uid 1000")
    }

    @Test("limits by name; the one that holds the token is none")
    func limits() {
        #expect(resourceNumber(named: "nofile") == 7)
        #expect(resourceNumber(named: "core") == 4)
        #expect(resourceNumber(named: "locks") == nil)
        #expect(resourceNumber(named: "NOFILE") == nil)
    }

    static let mounts: [(line: String, path: String, directory: String?)] = [
        ("35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw", "/", "/sys/fs/cgroup"),
        ("35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw", "/a/b", "/sys/fs/cgroup/a/b"),
        ("35 24 0:30 /a /mnt/my\\040tree rw shared:3 - cgroup2 none rw", "/a/b", "/mnt/my tree/b"),
        ("35 24 0:30 /a /mnt rw - cgroup2 none rw", "/ab", nil),
        ("35 24 0:30 /a /mnt rw - cgroup2 none rw", "/a", "/mnt"),
        ("35 24 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu", "/", nil),
        ("garbage", "/", nil),
    ]

    @Test("where a cgroup is mounted", arguments: mounts)
    func mount(_ row: (line: String, path: String, directory: String?)) {
        #expect(CgroupForest.directory(of: row.path, mount: row.line[...]) == row.directory)
    }

    @Test("a process of the table: name with blanks and parentheses, token, gone")
    func table() throws {
        let own = try #require(ProcessIdentity.living(getpid()))
        #expect(own.startTime > 0 && !own.command.isEmpty)
        #expect(ProcessIdentity.living(4_000_000) == nil)
        #expect(ProcessFiles.token(of: 4_000_000) == nil)
        #expect(cproc_pidfd_open(-1) == -ESRCH && cproc_signal_group(1, SIGTERM) == ESRCH)
        #expect(cproc_signal_child(0, SIGTERM) == ESRCH && cproc_signal_child(-1, SIGTERM) == ESRCH)
        var exit = cproc_exit()
        #expect(unsafe cproc_reap(0, &exit) == ECHILD && cproc_peek(-1, &exit) == ECHILD)
    }
}
