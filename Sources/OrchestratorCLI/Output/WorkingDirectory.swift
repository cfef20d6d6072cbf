import Glibc

/// The directory we are in; `nil` when it was removed under us.
func workingDirectory() -> String? {
    guard let buffer = unsafe getcwd(nil, 0) else { return nil }
    defer { unsafe free(buffer) }
    return unsafe String(cString: buffer)
}
