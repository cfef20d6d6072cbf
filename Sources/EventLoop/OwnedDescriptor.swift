import Glibc

/// A file descriptor with one owner, closed when the owner lets it go.
///
/// Close every `Watch` of the descriptor first: the kernel forgets a closed descriptor, libuv does
/// not, and the next file opened may get the same number.
public struct OwnedDescriptor: ~Copyable, Sendable {
    /// The number the kernel gave; valid for as long as this value lives.
    public let number: CInt

    /// Takes ownership of an open descriptor. From here on nobody else may close it.
    public init(owning number: CInt) {
        demand(number >= 0, "cannot own descriptor \(number): it is not open")
        self.number = number
    }

    /// Hands the open descriptor to the caller, who must close it.
    public consuming func release() -> CInt {
        let number = self.number
        discard self
        return number
    }

    deinit {
        // Linux frees the number even when close(2) is interrupted or reports a write error, so
        // there is nothing to try again. EBADF means that somebody else closed it: a defect, and
        // one that closes strangers' files once the number is in use again.
        let result = Glibc.close(number)
        assert(result == 0 || errno != EBADF, "descriptor \(number) was closed by somebody else")
    }
}
