import Glibc
internal import Orchestrator

extension CommandRun {
    /// `version`: this program's, and the engine's if one runs for the project here.
    func version() -> ExitCode {
        let engine = engineVersion()
        let system = systemRelease()
        if console.json {
            var members = JSONObject([.init(key: "version", value: .string(orchestratorVersion))])
            members["system"] = .string(system)
            if let engine { members["engine"] = engine }
            console.answer(JSONValue.object(members).description)
        } else {
            console.answer("\(CommandTable.program) \(orchestratorVersion) (\(system))")
            if let text = engine?["version"]?.string {
                console.answer("engine \(safeForTerminal(text))")
            }
        }
        return .done
    }

    /// Nobody who asks for the version wants to hear that no config is here.
    private func engineVersion() -> JSONValue? {
        do throws(Failure) {
            guard let client = try engineAccess().connectIfRunning() else { return nil }
            client.limits.answer = .seconds(2)
            do { return try client.request("GET", ["v1", "version"]).body } catch { return nil }
        } catch {
            return nil
        }
    }

    private func systemRelease() -> String {
        // SAFETY: `uname` fills the fields, which are read within their closure, up to their zero.
        var names = utsname()
        guard unsafe uname(&names) == 0 else { return "unknown system" }
        func text<T>(_ field: T) -> String {
            unsafe withUnsafeBytes(of: field) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
        }
        return "\(text(names.sysname)) \(text(names.release)) \(text(names.machine))"
    }
}
