import CProcess
import Glibc

/// The numbers in the list of children of all our threads, zombies too.
func children(of pid: Int32) -> [Int32] {
    var list = [Int32](repeating: 0, count: 4096)
    let count = unsafe cproc_children(pid, &list, list.count)
    return Array(list.prefix(max(0, count)))
}

/// How many descriptors we hold.
func descriptorCount() -> Int {
    guard let list = unsafe opendir("/proc/self/fd") else { return -1 }
    defer { unsafe closedir(list) }
    var count = 0
    while unsafe readdir(list) != nil { count += 1 }
    return count
}

/// Whether a process lives: not gone, not a zombie.
func lives(_ pid: Int32) -> Bool {
    var stat = cproc_stat()
    guard unsafe cproc_read_stat(pid, &stat) == 0 else { return false }
    return stat.state != CChar(UInt8(ascii: "Z"))
}

/// Microseconds since some moment.
func microseconds() -> Double { Double(cproc_clock(CLOCK_MONOTONIC)) / 1000 }

/// Microseconds that the processors spent on us so far.
func processorTime() -> Double { Double(cproc_clock(CLOCK_PROCESS_CPUTIME_ID)) / 1000 }
