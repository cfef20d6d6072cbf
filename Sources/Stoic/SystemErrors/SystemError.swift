/// A failure of the operating system, with its class and its meaning in words.
///
/// ```swift
/// throw SystemError(errno: errno, in: "connect")    // connect: nobody listens there
/// (ECONNREFUSED)
/// ```
/// `retry` asks it whether another attempt can help.
public struct SystemError: Error, Hashable, Sendable {
    /// Which list of numbers the code is from.
    public enum Domain: Hashable, Sendable {
        /// `errno` of a system call.
        case call
        /// What `getaddrinfo` returned.
        case lookup
    }

    /// What may be done about an error.
    public enum Kind: Hashable, Sendable {
        /// The same call may succeed a moment later.
        case transient
        /// The same call will fail again.
        case permanent
        /// Something is used up: it may help to wait, or to free some.
        case resource
        /// The call was wrong: a programming error.
        case contract
    }

    /// One line of the catalogue.
    public struct Entry: Hashable, Sendable {
        /// The number.
        public let code: Int32
        /// Its name: `ECONNREFUSED`.
        public let name: String
        /// What may be done about it.
        public let kind: Kind
        /// What it means, in words.
        public let meaning: String

        init(_ code: Int32, _ name: String, _ kind: Kind, _ meaning: String) {
            self.code = code
            self.name = name
            self.kind = kind
            self.meaning = meaning
        }
    }

    /// Which list of numbers the code is from.
    public let domain: Domain
    /// The number.
    public let code: Int32
    /// What failed: the call, or what it was for.
    public let call: String

    /// The error number of a system call.
    public init(errno: Int32, in call: String) {
        domain = .call
        code = errno
        self.call = call
    }

    /// What `getaddrinfo` returned.
    public init(lookup code: Int32, in call: String = "getaddrinfo") {
        domain = .lookup
        self.code = code
        self.call = call
    }

    /// What a function of libuv returned: a negated error number, or a code of its own for a
    /// failed look-up.
    public init(libuv code: Int32, in call: String) {
        if let lookup = SystemErrorTable.lookupsOfLibuv[code] {
            self.init(lookup: lookup, in: call)
        } else {
            self.init(errno: code == .min ? .max : -code, in: call)
        }
    }

    /// What the catalogue says of it. An unknown number is permanent.
    public var entry: Entry {
        let table = domain == .call ? SystemErrorTable.calls : SystemErrorTable.lookups
        return table[code] ?? Entry(code, "error \(code)", .permanent, "the system says \(code)")
    }
}

extension SystemError {
    /// What an error number of a system call means, in words: `nobody listens there`.
    public static func meaning(of errno: Int32) -> String {
        SystemError(errno: errno, in: "").entry.meaning
    }
}

extension SystemError: Classified {
    /// Whether the same call may succeed a moment later: also once something is free again.
    public var isTransient: Bool { entry.kind == .transient || entry.kind == .resource }
}

extension SystemError: CustomStringConvertible {
    /// `connect: nobody listens there (ECONNREFUSED)`.
    public var description: String { "\(call): \(entry.meaning) (\(entry.name))" }
}

extension SystemError {
    /// This error as it should be thrown: a number that says that the *call* was wrong comes out as
    /// a `Defect`, which nothing retries.
    public var thrown: any Error { entry.kind == .contract ? SystemDefect(error: self) : self }
}

/// A system call that was wrong: a closed descriptor, a socket that is none.
public struct SystemDefect: Defect, Hashable, CustomStringConvertible {
    /// What the system said.
    public let error: SystemError

    /// `error`, as the programming error it is.
    public init(error: SystemError) { self.error = error }

    /// What the system said.
    public var description: String { error.description }
}
