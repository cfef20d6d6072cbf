internal import Manifest
internal import Stoic

extension CommandRun {
    /// `completion`: a script for a shell, or the names it asks for.
    func completion() -> ExitCode {
        if invocation.has(.services) { return names() }
        if let script = invocation.arguments.first.flatMap(CompletionScripts.script) {
            console.answer(raw: script)
        }
        return .done
    }

    /// Whoever presses Tab wants no error messages between what they type.
    private func names() -> ExitCode {
        let project: ProjectDefinition
        do throws(Failure) { project = try loadConfig().project } catch { return error.code }
        for service in project.services where CompletionScripts.isSafe(service.spec.name.text) {
            console.answer(service.spec.name.text)
        }
        return .done
    }
}

extension CompletionScripts {
    /// The shells expand the words they complete with: a name such as `$(reboot)` must not reach
    /// them from a config somebody merely has on disk.
    static func isSafe(_ name: String) -> Bool {
        name.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                UInt8(ascii: "."), UInt8(ascii: "@"):
                true
            default: false
            }
        }
    }
}
