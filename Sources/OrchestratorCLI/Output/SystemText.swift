import Glibc

/// The system's words for an error number.
func systemText(_ error: CInt) -> String {
    unsafe strerror(error).map { unsafe String(cString: $0) } ?? "error \(error)"
}
