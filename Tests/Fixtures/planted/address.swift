// Writes one byte behind its memory: `scripts/sanitize address` has to see it.

@main struct Overflow {
    static func main() {
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 8)
        memory[CommandLine.arguments.count + 7] = 1
        print(memory[0])
        memory.deallocate()
    }
}
