import Testing

/// What operations of the library allocate, compared with what was recorded. How long they take is
/// for `scripts/bench-library`, on a machine that does nothing else.
@Suite("Allocations", .timeLimit(.minutes(5)))
struct AllocationTests {
    @Test("no operation makes more of them than was recorded")
    func noMore() throws {
        let result = try Program.run([
            "\(Built.programs)/library-bench", "counts",
            "\(Checkout.root)/docs/benchmarks-library.json",
        ])
        #expect(result.code == 0, "\(result.output)")
    }
}
