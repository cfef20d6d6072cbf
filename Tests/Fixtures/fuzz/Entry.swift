import Glibc

/// The target of that name.
func chosen(_ name: String) -> (any FuzzTarget)? {
    fuzzTargets.first { $0.name == name }.map { $0.init() }
}

#if FUZZING
    /// What libFuzzer calls. The target is the one that FUZZ_TARGET names.
    private let target: any FuzzTarget = {
        guard let name = unsafe getenv("FUZZ_TARGET"),
            let target = unsafe chosen(String(cString: name))
        else { broken("FUZZ_TARGET names a target") }
        return target
    }()

    @_cdecl("LLVMFuzzerTestOneInput")
    public func fuzzOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        unsafe target.read(Array(UnsafeBufferPointer(start: start, count: count)))
        return 0
    }

    /// The package manager has a program begin at its name and `_main`, whatever else there is.
    @_cdecl("fuzz_main")
    public func fuzzMain(
        _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> CInt {
        var count = count
        var arguments = unsafe arguments
        return unsafe runDriver(&count, &arguments, fuzzOne)
    }

    /// libFuzzer's own main, for programs that have one (`FuzzerInterface.h`).
    @_silgen_name("LLVMFuzzerRunDriver")
    private func runDriver(
        _ count: UnsafeMutablePointer<CInt>,
        _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
        _ read: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
    ) -> CInt
#else
    /// Without libFuzzer: inputs from files, and a number of random changes of each.
    @main
    struct Entry {
        static func main() {
            let words = Array(CommandLine.arguments.dropFirst())
            guard let name = words.first, let target = chosen(name), words.count > 2,
                let changes = Int(words[1])
            else {
                let names = fuzzTargets.map { $0.name }.joined(separator: ", ")
                say("usage: fuzz TARGET CHANGES FILE ...\ntargets: \(names)")
                exit(64)
            }
            let inputs = words.dropFirst(2).map(file)
            replay(target, inputs, changes: changes)
        }

        /// Runs each input, and then as many changed ones.
        static func replay(_ target: any FuzzTarget, _ inputs: [[UInt8]], changes: Int) {
            for input in inputs { target.read(input) }
            var mutator = Mutator(inputs, seed: 1)
            for _ in 0..<changes { target.read(mutator.next()) }
        }

        static func file(_ path: String) -> [UInt8] {
            let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { broken("\(path) can be read") }
            defer { close(descriptor) }
            var all: [UInt8] = []
            var block = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = unsafe read(descriptor, &block, block.count), count > 0 {
                all += block[..<count]
            }
            return all
        }
    }
#endif
