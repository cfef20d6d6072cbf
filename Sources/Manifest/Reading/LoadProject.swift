/// Reads, checks and completes a config.
///
/// Blocks on the file and on the environment files it names; safe from any thread.
/// - Parameters:
///   - file: The config; a relative path starts from the current directory. A name that ends in
///     `.json` is read as JSON, any other as YAML. At most 16 MiB.
///   - environment: What `${VAR}` may refer to: the caller's environment.
/// - Returns: What the engine runs, and what is odd about the config.
/// - Throws: Everything that is wrong with the config, found in one pass.
public func loadProject(
    file: String, environment: [String: String]
) throws(ConfigError) -> (project: ProjectDefinition, warnings: [Diagnostic]) {
    let bytes: [UInt8]
    do throws(FileFailure) { bytes = try readFile(file, most: TextLimits.bytes) } catch {
        let message = "cannot read the config: \(error.reason)"
        throw ConfigError([Diagnostic(.error, file: file, message)])
    }
    return try loadProject(text: bytes, file: file, environment: environment)
}

/// As `loadProject(file:environment:)`, for text that is already there.
/// - Parameters:
///   - text: What the file holds.
///   - file: What to call it, and where relative paths start; it need not exist.
public func loadProject(
    text: [UInt8], file: String, environment: [String: String]
) throws(ConfigError) -> (project: ProjectDefinition, warnings: [Diagnostic]) {
    let log = DiagnosticLog(file: file)
    let absolute = absolutePath(file, from: currentDirectory())
    let context = LoadContext(
        log: log, interpolator: Interpolator(environment: environment),
        directory: parentDirectory(of: absolute) ?? "/")
    guard let root = parsedRoot(text, file: file, log) else { throw log.failure }
    let check = SchemaCheck(log: log, interpolator: context.interpolator)
    guard let object = check.object(root, .project, "") else { throw log.failure }
    let project = ProjectReader(context: context, file: absolute, root: object).read()
    guard !log.hasErrors else { throw log.failure }
    return (project, log.warnings)
}

private func parsedRoot(_ bytes: [UInt8], file: String, _ log: DiagnosticLog) -> Node? {
    do throws(TextFault) { _ = try sourceText(bytes) } catch {
        log.error(error)
        return nil
    }
    let parsed = file.hasSuffix(".json") ? parseJSON(bytes) : parseYAML(bytes)
    parsed.faults.forEach { log.error($0) }
    if parsed.root == nil, parsed.faults.isEmpty {
        log.error(
            Spot(place: Place(line: 1, column: 1), path: ""), "the file is empty",
            suggestion: "it needs at least services")
    }
    return parsed.root
}
