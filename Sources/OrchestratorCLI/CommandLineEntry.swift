import Glibc
import CUV
public func runCommandLine(_ arguments: [String]) -> Int32 { Int32(uv_version() & 1) }
public func exitProcess(with code: Int32) -> Never { exit(code) }
