import Glibc
import Stoic

/// A user with groups, resolved: what a process is to become.
public struct Identity: Hashable, Sendable {
    /// The user's number.
    public var user: UInt32
    /// The primary group's number.
    public var group: UInt32
    /// The supplementary groups, the primary one included.
    public var groups: [UInt32]
    /// The name, where the system has one for the number: `USER` and `LOGNAME`.
    public var name: String?
    /// `HOME`, where known.
    public var home: String?
    /// `SHELL`, where known.
    public var shell: String?

    /// An identity of numbers only.
    public init(user: UInt32, group: UInt32, groups: [UInt32]) {
        self.user = user
        self.group = group
        self.groups = groups
    }

    /// `HOME`, `USER`, `LOGNAME` and `SHELL`, as far as known.
    public var environment: [(name: String, value: String)] {
        [("HOME", home), ("USER", name), ("LOGNAME", name), ("SHELL", shell)].compactMap {
            entry in entry.1.map { (entry.0, $0) }
        }
    }
}

/// Why a user or group of a config cannot be used. The text completes "cannot …".
public enum IdentityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No user of that name.
    case noUser(String)
    /// No group of that name.
    case noGroup(String)
    /// Only root may become another user or group, and we are not root.
    case notPermitted(String, own: UInt32)
    /// The system could not tell: a broken name service, say.
    case lookup(String, errorNumber: Int32)

    public var description: String {
        switch self {
        case .noUser(let name): "become user \(name): there is no such user"
        case .noGroup(let name): "become group \(name): there is no such group"
        case .notPermitted(let whom, let own):
            "become \(whom): only root may, and orchestrator runs as uid \(own)"
        case .lookup(let name, let number):
            "look up \(name): \(SystemError.meaning(of: number))"
        }
    }
}

extension Identity {
    /// Refuses what the system would refuse later, in the words of the config.
    ///
    /// - Parameters:
    ///   - user: As it was resolved from.
    ///   - group: As it was resolved from.
    ///   - own: Whom we run as.
    func check(
        user: String?, group: String?, own: UInt32 = geteuid(), ownGroup: UInt32 = getegid()
    ) throws(IdentityError) {
        guard own != 0 else { return }
        if let user, self.user != own { throw .notPermitted("user \(user)", own: own) }
        if let group, self.group != ownGroup { throw .notPermitted("group \(group)", own: own) }
    }
}

/// Finds a user and group by name or number. Reads the system's databases, which can take long (a
/// directory service): call it off the loop, and never in a child.
///
/// - Parameters:
///   - user: a name or number; `nil` keeps ours. A number without an entry is used as it is.
///   - group: a name or number; `nil` is the user's primary group.
/// - Returns: the identity, also where both are `nil` (then it is our own).
public func resolveIdentity(user: String?, group: String?) throws(IdentityError) -> Identity {
    var identity = Identity(user: geteuid(), group: getegid(), groups: [])
    if let user {
        if let entry = try account(of: user) {
            identity = entry
        } else if let number = UInt32(user) {
            identity = Identity(user: number, group: number, groups: [])
        } else {
            throw .noUser(user)
        }
    } else if let entry = try account(of: String(geteuid())) {
        identity.name = entry.name
        identity.home = entry.home
        identity.shell = entry.shell
    }
    if let group { identity.group = try number(ofGroup: group) }
    identity.groups = groups(of: identity)
    return identity
}

private let mostBytes = 1 << 20

/// The entry of a user, by name first and then by number, as chown(1) does.
private func account(of user: String) throws(IdentityError) -> Identity? {
    // SAFETY: `entry` hands over a record and a buffer of the size it says.
    if let found = try unsafe entry(user, { unsafe getpwnam_r(user, $0, $1, $2, $3) }) {
        return found
    }
    guard let number = UInt32(user) else { return nil }
    return try unsafe entry(user) { unsafe getpwuid_r(number, $0, $1, $2, $3) }
}

private typealias AccountQuery = (
    UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
    UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
) -> CInt

@unsafe private func entry(_ name: String, _ query: AccountQuery) throws(IdentityError) -> Identity?
{
    // SAFETY: the record points into the buffer, and is copied before that is freed.
    var size = 4096
    while size <= mostBytes {
        let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
        defer { unsafe buffer.deallocate() }
        var record = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        let result = unsafe query(&record, buffer, size, &found)
        if result == ERANGE {
            size *= 2
            continue
        }
        if let found = unsafe found { return unsafe Identity(found.pointee) }
        // "Not found" has many numbers (getpwnam_r(3)); these mean that the question failed.
        guard [EIO, EMFILE, ENFILE, ENOMEM].contains(result) else { return nil }
        throw .lookup(name, errorNumber: result)
    }
    throw .lookup(name, errorNumber: ERANGE)
}

extension Identity {
    fileprivate init(_ record: passwd) {
        // SAFETY: the texts of the record end with a zero, lie in a buffer of the caller, and are
        // copied.
        unsafe self.init(user: record.pw_uid, group: record.pw_gid, groups: [])
        name = unsafe record.pw_name.map { unsafe String(cString: $0) }
        home = unsafe record.pw_dir.map { unsafe String(cString: $0) }
        shell = unsafe record.pw_shell.map { unsafe String(cString: $0) }
    }
}

private func number(ofGroup name: String) throws(IdentityError) -> UInt32 {
    // SAFETY: the record points into the buffer, and only its number is used.
    var size = 4096
    while size <= mostBytes {
        let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
        defer { unsafe buffer.deallocate() }
        var record = unsafe Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        let result = unsafe getgrnam_r(name, &record, buffer, size, &found)
        if result == ERANGE {
            size *= 2
            continue
        }
        if let found = unsafe found { return unsafe found.pointee.gr_gid }
        if let number = UInt32(name) { return number }
        guard [EIO, EMFILE, ENFILE, ENOMEM].contains(result) else { throw .noGroup(name) }
        throw .lookup(name, errorNumber: result)
    }
    throw .lookup(name, errorNumber: ERANGE)
}

/// The supplementary groups of a named user, capped as the kernel does; else the primary one alone.
private func groups(of identity: Identity) -> [UInt32] {
    guard let name = identity.name else { return [identity.group] }
    var capacity: CInt = 64
    while capacity <= 65536 {
        var list = [gid_t](repeating: 0, count: Int(capacity))
        var count = capacity
        // SAFETY: the call is told how much room the list has, and says how much it used.
        if unsafe getgrouplist(name, identity.group, &list, &count) >= 0 {
            return Array(list.prefix(Int(count)))
        }
        capacity = max(count, capacity * 2)
    }
    return [identity.group]
}
