import Stoic

@testable import Manifest

/// Config text, as YAML and as JSON.
struct ConfigTarget: FuzzTarget {
    static let name = "config"

    func read(_ bytes: [UInt8]) {
        for file in ["/x/fuzz.yaml", "/x/fuzz.json"] {
            let first = Self.load(bytes, file)
            promise(first == Self.load(bytes, file), "one text is one result")
            let lines = bytes.count { $0 == UInt8(ascii: "\n") } + bytes.count { $0 == 13 } + 1
            switch first {
            case .success(let project): Self.check(project)
            case .failure(let error):
                promise(!error.diagnostics.isEmpty, "a refusal says why")
                for diagnostic in error.diagnostics {
                    promise(diagnostic.line <= lines + 1, "a place is in the text: \(diagnostic)")
                    promise(!diagnostic.message.isEmpty, "a problem has words")
                }
            }
        }
    }

    private static func load(
        _ bytes: [UInt8], _ file: String
    ) -> Result<ProjectDefinition, ConfigError> {
        do throws(ConfigError) {
            return .success(
                try loadProject(text: bytes, file: file, environment: ["HOME": "/x", "A": "${A}"])
                    .project)
        } catch {
            return .failure(error)
        }
    }

    /// What the reader lets pass, the brain can run.
    private static func check(_ project: ProjectDefinition) {
        promise(!project.services.isEmpty, "a project has services")
        do throws(DependencyGraphError) {
            _ = try LifecycleMachine(project.services.map(\.spec))
        } catch {
            broken("a config that was read is one the brain takes: \(error)")
        }
    }
}

/// The text of an environment file.
struct EnvironmentFileTarget: FuzzTarget {
    static let name = "environment-file"

    func read(_ bytes: [UInt8]) {
        guard let text = Self.text(bytes) else { return }
        var parser = EnvironmentFileParser(text)
        parser.parse()
        for variable in parser.variables {
            promise(!variable.name.isEmpty, "a variable has a name")
            promise(!variable.name.contains { $0 == "=" || $0 == "\0" }, "a name is one")
            promise(!variable.value.utf8.contains(0), "no value ends early")
        }
    }

    private static func text(_ bytes: [UInt8]) -> String? {
        do throws(TextFault) { return try sourceText(bytes) } catch { return nil }
    }
}

/// Durations, sizes, signals, commands and templates: the small languages inside values.
struct ValueTarget: FuzzTarget {
    static let name = "value"

    func read(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        roundTrip(text, parseDuration, durationText, "duration")
        roundTrip(text, parseSize, sizeText, "size")
        roundTrip(text, parseSignal, signalName, "signal")
        let interpolator = Interpolator(environment: ["A": "a", "B": "${A}"])
        var splitter = CommandSplitter(text, interpolator)
        do throws(ValueError) { _ = try splitter.split() } catch { check(error) }
        do throws(ValueError) { _ = try interpolator.template(text) } catch { check(error) }
        promise(ExpressionSize.of(text) >= 0, "an expression has a size")
    }

    /// What is written as text is read as the same value.
    private func roundTrip<Value: Equatable>(
        _ text: String, _ parse: (String) throws(ValueError) -> Value, _ write: (Value) -> String,
        _ kind: String
    ) {
        let value: Value
        do throws(ValueError) { value = try parse(text) } catch { return check(error) }
        do throws(ValueError) {
            promise(try parse(write(value)) == value, "\(kind) \(write(value)) is read as written")
        } catch {
            broken("\(kind) \(write(value)) is not read: \(error)")
        }
    }

    private func check(_ error: ValueError) {
        promise(!error.message.isEmpty, "an error has words")
    }
}
