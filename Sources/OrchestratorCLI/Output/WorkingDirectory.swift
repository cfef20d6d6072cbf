import Glibc

/// The directory we are in; `nil` when it was removed under us.
func workingDirectory() -> String? {
    // SAFETY: the text is allocated for us, copied, and freed once.
    guard let buffer = unsafe getcwd(nil, 0) else { return nil }
    defer { unsafe free(buffer) }
    return unsafe String(cString: buffer)
}
