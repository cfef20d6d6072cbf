import Testing

/// A fault that cannot be put in proves nothing about the tests that should see it.
@Suite("mutations", .timeLimit(.minutes(10)))
struct MutationTests {
    @Test("every patch of Tests/Mutations fits the source it changes")
    func patchesFit() throws {
        let patches = Checkout.files.filter { $0.path.hasSuffix(".patch") }
        #expect(patches.count >= 15)
        for patch in patches {
            let target = try #require(patch.lines.first { $0.hasPrefix("--- a/") })
                .dropFirst("--- a/".count)
            let source = try #require(Checkout.files.first { $0.path == target }, "\(patch.path)")
            let text = source.lines.joined(separator: "\n")
            for hunk in patch.lines.split(whereSeparator: { $0.hasPrefix("@@") }).dropFirst() {
                let before = hunk.filter { $0.hasPrefix(" ") || ($0.hasPrefix("-") || $0.isEmpty) }
                    .map { $0.dropFirst() }.joined(separator: "\n")
                #expect(text.contains(before), "\(patch.path) does not fit \(target) any more")
            }
        }
    }
}
