/// What every step of one load shares.
struct LoadContext {
    let log: DiagnosticLog
    let interpolator: Interpolator
    /// Where relative paths start; absolute.
    let directory: String
    let environmentFiles = EnvironmentFileCache()

    /// The path of a value, absolute.
    func path(_ text: String) -> String { absolutePath(text, from: directory) }
}

/// Environment files of one load: each is read once, however many services name it.
final class EnvironmentFileCache {
    /// What its variables hash to, or why there are none.
    private var read: [String: Result<UInt64, EnvironmentFileError>] = [:]

    func digest(_ path: String) -> Result<UInt64, EnvironmentFileError> {
        if let known = read[path] { return known }
        let result: Result<UInt64, EnvironmentFileError>
        do throws(EnvironmentFileError) {
            var hash = StableHash()
            for (name, value) in try readEnvironmentFile(path) {
                hash.add(name)
                hash.add(value)
            }
            result = .success(hash.value)
        } catch {
            result = .failure(error)
        }
        read[path] = result
        return result
    }
}
