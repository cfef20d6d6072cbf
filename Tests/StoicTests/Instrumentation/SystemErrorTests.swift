import Glibc
import Testing

@testable import Stoic

@Suite("the catalogue of system errors", .timeLimit(.minutes(5)))
struct SystemErrorTests {
    @Test(
        "INS-7: the numbers are the C library's, and each has its class",
        arguments: [
            (EAGAIN, "EAGAIN", SystemError.Kind.transient), (EINTR, "EINTR", .transient),
            (ECONNRESET, "ECONNRESET", .transient), (ECONNREFUSED, "ECONNREFUSED", .transient),
            (ETIMEDOUT, "ETIMEDOUT", .transient), (EHOSTUNREACH, "EHOSTUNREACH", .transient),
            (ENETUNREACH, "ENETUNREACH", .transient), (EPIPE, "EPIPE", .transient),
            (ENOBUFS, "ENOBUFS", .transient), (EMFILE, "EMFILE", .resource),
            (ENFILE, "ENFILE", .resource), (ENOENT, "ENOENT", .permanent),
            (EACCES, "EACCES", .permanent), (EPERM, "EPERM", .permanent),
            (EINVAL, "EINVAL", .permanent), (EROFS, "EROFS", .permanent),
            (ENOSPC, "ENOSPC", .resource), (EDQUOT, "EDQUOT", .resource),
            (ENOMEM, "ENOMEM", .resource), (EBADF, "EBADF", .contract),
            (ENOTSOCK, "ENOTSOCK", .contract), (ELOOP, "ELOOP", .permanent),
            (EADDRINUSE, "EADDRINUSE", .permanent), (ESTALE, "ESTALE", .transient),
            (ECANCELED, "ECANCELED", .permanent), (EOVERFLOW, "EOVERFLOW", .permanent),
        ])
    func calls(code: Int32, name: String, kind: SystemError.Kind) {
        let error = SystemError(errno: code, in: "call")
        #expect(error.entry.name == name)
        #expect(error.entry.kind == kind)
        #expect(SystemError(libuv: -code, in: "call") == error)
    }

    @Test("INS-7: every number of the table is one the C library has words for")
    func everyNumber() {
        for code in SystemErrorTable.calls.keys {
            let words = unsafe String(cString: strerror(code))
            #expect(!words.hasPrefix("Unknown"))
        }
        let lookups = [
            EAI_BADFLAGS, EAI_NONAME, EAI_AGAIN, EAI_FAIL, EAI_FAMILY, EAI_SOCKTYPE, EAI_SERVICE,
            EAI_MEMORY, EAI_SYSTEM, EAI_OVERFLOW,
        ]
        #expect(Set(SystemErrorTable.lookups.keys) == Set(lookups))
    }

    @Test("INS-7: look-ups: busy name servers are worth another attempt, unknown names are not")
    func lookups() {
        #expect(SystemError(lookup: EAI_AGAIN).isTransient)
        #expect(!SystemError(lookup: EAI_NONAME).isTransient)
        #expect(SystemError(libuv: -3_001, in: "x").entry.name == "EAI_AGAIN")
        #expect(SystemError(libuv: -3_008, in: "x").entry.name == "EAI_NONAME")
    }

    @Test("INS-7: an unknown number is said as it is, and not retried")
    func unknown() {
        let error = SystemError(errno: 4_242, in: "call")
        #expect("\(error)" == "call: the system says 4242 (error 4242)")
        #expect(!error.isTransient)
        #expect(SystemError(libuv: .min, in: "x").code == .max)
    }

    @Test("INS-7: a call that was wrong comes out as a defect, which nothing retries")
    func contract() {
        #expect(SystemError(errno: EBADF, in: "read").thrown is any Defect)
        #expect(SystemError(errno: EIO, in: "read").thrown is SystemError)
        #expect(Classifier.default(SystemError(errno: EAGAIN, in: "read")) == .retry)
        #expect(Classifier.default(SystemError(errno: ENOENT, in: "open")) == .giveUp)
    }
}
