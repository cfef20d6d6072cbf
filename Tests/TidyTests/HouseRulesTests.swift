import Testing

/// The rules against the project itself.
@Suite("House rules", .timeLimit(.minutes(10)))
struct HouseRulesTests {
    @Test("every file keeps", arguments: Rule.all)
    func holds(_ rule: Rule) {
        let findings = Exemption.uncovered(Checkout.files.flatMap(rule.check))
        #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
    }

    @Test("every row of a failure-mode table is claimed by a test, and every claim has a row")
    func rowsAreClaimed() {
        let findings = ContractRows.findings(
            contracts: Checkout.files.filter { $0.isMarkdown && $0.isUnder("docs/design") },
            tests: Checkout.files.filter {
                $0.isSwift && $0.isUnder("Tests")
                    && !$0.path.hasPrefix("Tests/TidyTests/RuleSample")
            })
        #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
    }

    @Test("every event that a row of the library names is looked at by a test that claims the row")
    func rowsAreHeard() {
        let findings = ContractEvents.findings(
            contracts: Checkout.files.filter {
                $0.isMarkdown && $0.isUnder("docs/design") && Rule.isOfTheLibrary($0.path)
            },
            sources: Checkout.files.filter { $0.isSwift && $0.isUnder("Sources") },
            tests: Checkout.files.filter { $0.isSwift && $0.isUnder("Tests") })
        #expect(findings.isEmpty, "\(findings.map(\.description).joined(separator: "\n"))")
    }

    @Test("every exemption is needed and says why")
    func exemptionsAreNeeded() {
        let findings = Checkout.files.flatMap { file in Rule.all.flatMap { $0.check(file) } }
        for exemption in Exemption.all {
            let isNeeded = findings.contains {
                $0.rule == exemption.rule && $0.path == exemption.path
            }
            #expect(isNeeded, "\(exemption.path) no longer breaks \(exemption.rule): delete it")
            #expect(!exemption.reason.isEmpty)
        }
    }

    @Test("every module of Sources and CShims has its row, and the architecture names it")
    func modulesHaveRows() throws {
        let architecture = try #require(
            Checkout.files.first { $0.path == "docs/architecture.md" })
        for module in Set(Checkout.files.compactMap(\.module)) {
            #expect(Layers.rows[module] != nil, "\(module) has no row in Layers.rows")
            #expect(architecture.text.contains("`\(module)`"), "docs/architecture.md: \(module)")
        }
    }

    @Test("a number means one decision")
    func decisionsAreNumbered() {
        let names = Checkout.files.map(\.path).filter { $0.hasPrefix("docs/decisions/") }
        let numbers = names.map { $0.dropFirst("docs/decisions/".count).prefix(4) }
        #expect(numbers.count > 20 && Set(numbers).count == numbers.count, "\(names.sorted())")
    }

    @Test("the walk over the checkout sees what is there")
    func walkSees() {
        let paths = Set(Checkout.files.map(\.path))
        #expect(paths.isSuperset(of: ["Package.swift", "LICENSE", "scripts/test", ".ci/run"]))
        #expect(!paths.contains { $0.hasPrefix(".build/") || $0.hasPrefix(".git/") })
    }
}
