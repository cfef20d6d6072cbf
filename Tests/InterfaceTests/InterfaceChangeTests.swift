import Testing

@testable import library_api

/// What `scripts/api-check` says about changes of an interface, each planted here.
@Suite("A change of the interface", .timeLimit(.minutes(5)))
struct InterfaceChangeTests {
    static let recorded = """
        # The public interface of Lamps.
        Lamp | conforms to Swift.Copyable
        Lamp | struct Lamp
        Lamp.glow | var glow: Int { get } [deprecated after 1.2.0]
        Lamp.light(at:) | func light(at hour: Int = 18) async
        Lit | protocol Lit
        Shade | enum Shade
        Shade.dark | case dark
        Tint | enum Tint [may grow]

        """

    struct Planted: CustomTestStringConvertible {
        let old: String
        let new: String
        /// What is said of it; `nil` for an addition.
        let said: String?
        let testDescription: String

        init(_ what: String, _ old: String, _ new: String, says said: String?) {
            (self.old, self.new, self.said, testDescription) = (old, new, said, what)
        }
    }

    static let planted = [
        Planted(
            "a function is removed", "Lamp.light(at:) | func light(at hour: Int = 18) async\n", "",
            says: "Lamp.light(at:): removed"),
        Planted(
            "a default is gone", "hour: Int = 18", "hour: Int",
            says: "Lamp.light(at:): changed from"),
        Planted(
            "a type cannot be copied", "Lamp | conforms to Swift.Copyable\n", "",
            says: "no longer"),
        Planted(
            "an enum has a new case", "Shade.dark | case dark",
            "Shade.dark | case dark\nShade.grey | case grey", says: "Shade.grey: a new case"),
        Planted(
            "a protocol asks for more", "Lit | protocol Lit",
            "Lit | protocol Lit\nLit.lit | var lit: Bool { get } [required]",
            says: "Lit.lit: a new requirement"),
        Planted(
            "an enum is closed", " [may grow]", "", says: "Tint: no longer says"),
        Planted(
            "what is deprecated goes too early",
            "Lamp.glow | var glow: Int { get } [deprecated after 1.2.0]\n", "",
            says: "Lamp.glow: removed, but deprecated after 1.2.0"),
        Planted(
            "an enum that says so has a new case", "Tint | enum Tint [may grow]",
            "Tint | enum Tint [may grow]\nTint.red | case red", says: nil),
        Planted(
            "a protocol has a new default", "Lit | protocol Lit",
            "Lit | protocol Lit\nLit.lit | var lit: Bool { get }", says: nil),
        Planted(
            "a type is new", "Lit | protocol Lit", "Lit | protocol Lit\nNew | struct New", says: nil
        ),
    ]

    @Test("is seen", arguments: planted)
    func seen(_ planted: Planted) {
        let changed = Self.recorded.replacing(planted.old, with: planted.new)
        #expect(changed != Self.recorded)
        let comparison = Comparison(
            from: Outline(text: Self.recorded), to: Outline(text: changed),
            newest: Release(major: 1, minor: 2, patch: 5))
        guard let said = planted.said else {
            #expect(comparison.breaks.isEmpty)
            #expect(comparison.additions.count == 1)
            return
        }
        #expect(comparison.breaks.count == 1)
        #expect(comparison.breaks.first?.description.contains(said) == true)
    }

    @Test("none is none")
    func none() {
        let outline = Outline(text: Self.recorded)
        let comparison = Comparison(from: outline, to: outline, newest: .none)
        #expect(comparison.breaks.isEmpty && comparison.additions.isEmpty)
        #expect(
            outline.text == Self.recorded.split(separator: "\n").dropFirst()
                .joined(separator: "\n") + "\n")
    }

    @Test("what is deprecated may go, announced, a minor version later")
    func deprecated() {
        let recorded = Outline(text: Self.recorded)
        let line = "Lamp.glow | var glow: Int { get } [deprecated after 1.2.0]\n"
        let current = Outline(text: Self.recorded.replacing(line, with: ""))
        let later = Comparison(
            from: recorded, to: current, newest: Release(major: 1, minor: 3, patch: 0))
        #expect(later.breaks.map(\.mayBeAnnounced) == [true])
    }

    @Test("is announced by its name, or by what it is a member of, in the changelog")
    func announced() {
        let announcements = Announcements(
            changelog: """
                # Changelog

                ## Unreleased

                - Breaking: `Lamp.light(at:)` wants a minute, and
                  `Shade` is gone.
                - `Tint` is new.

                ## 1.2.5, 2026-01-31

                - Breaking: `Lit`
                """)
        #expect(announcements.newest == Release(major: 1, minor: 2, patch: 5))
        #expect(announcements.cover("Lamp.light(at:)"))
        #expect(announcements.cover("Shade.dark"))
        #expect(!announcements.cover("Lamp"))
        #expect(!announcements.cover("Lamp.glow"))
        #expect(!announcements.cover("Tint") && !announcements.cover("Lit"))
    }
}
