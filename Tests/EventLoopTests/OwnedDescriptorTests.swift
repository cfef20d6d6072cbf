import EventLoop
import Glibc
import Testing

@Suite("OwnedDescriptor", .timeLimit(.minutes(1)))
struct OwnedDescriptorTests {
    /// Duplicates are made far above what parallel tests open, so that a number stays ours.
    private func highDescriptor(_ number: CInt) throws -> CInt {
        let copy = fcntl(1, F_DUPFD_CLOEXEC, number)
        try #require(copy == number)
        return copy
    }

    @Test("closes what it owns at the end of its life")
    func closes() throws {
        let number = try highDescriptor(700)
        do {
            let owner = OwnedDescriptor(owning: number)
            #expect(owner.number == number)
            #expect(fcntl(owner.number, F_GETFD) >= 0)
        }
        #expect(fcntl(number, F_GETFD) == -1)
    }

    @Test("hands over an open descriptor")
    func releases() throws {
        let owner = OwnedDescriptor(owning: try highDescriptor(701))
        let number = owner.release()
        #expect(fcntl(number, F_GETFD) >= 0)
        close(number)
    }
}
