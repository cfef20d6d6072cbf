import Stoic

/// Turns the checked keys of one service into its definition. What is missing after a report gets a
/// harmless value: the load fails anyway, and the rest is worth checking.
struct ServiceReader {
    let keys: ServiceKeys
    let context: LoadContext
    let projectEnvironment: Checked?
    let projectStartFailure: ServiceSpec.StartFailureRule
    /// Every use of another service's value, for the check once all services are known.
    var uses: [ReferenceUse] = []
    /// Where each need is listed.
    var needSpots: [ServiceName: Spot] = [:]
    var digests: [String: UInt64] = [:]

    /// A use of another service's value.
    struct ReferenceUse: Located {
        var service: ServiceName
        var key: String
        var place: Place
        var path: String
    }

    init(
        _ keys: ServiceKeys, _ context: LoadContext, environment: Checked?,
        onStartFailure: ServiceSpec.StartFailureRule
    ) {
        self.keys = keys
        self.context = context
        projectEnvironment = environment
        projectStartFailure = onStartFailure
    }

    var log: DiagnosticLog { context.log }

    /// The definition.
    mutating func read() -> ServiceDefinition {
        keys.reportMisfits(log)
        var definition = ServiceDefinition(readSpec(), launch: readLaunch())
        definition.description = keys["description"]?.text
        definition.hasControlChannel = flag("control")
        if !keys.isOneshot { definition.ready = readReady() }
        definition.spec.readiness = definition.ready.readiness
        if let (live, threshold) = readLive() {
            definition.live = Shared(wrappedValue: live)
            definition.spec.liveThreshold = threshold
        }
        checkDescriptors(definition)
        let stop = readStop()
        definition.spec.ladder = stop.ladder
        definition.stopCommands = stop.commands
        definition.reloadSignal = keys["reload"]?.signal ?? definition.reloadSignal
        definition.provides = readProvides()
        definition.output = readOutput()
        definition.simulated = readSimulated().map { Shared(wrappedValue: $0) }
        definition.spec.launchDigest = definition.digest(environmentFiles: digests)
        return definition
    }

    func flag(_ key: String) -> Bool { keys[key]?.flag ?? false }

    /// The template of a value, its references noted.
    mutating func template(_ value: Checked) -> Template {
        guard let template = value.template else { return Template(literal: "") }
        for (service, key) in template.references {
            uses.append(
                ReferenceUse(service: service, key: key, place: value.place, path: value.path))
        }
        return template
    }

    /// The arguments of a command that no shell runs; empty after a report.
    mutating func arguments(_ command: Checked) -> [Template] {
        switch command.value {
        case .commandText(let text):
            var splitter = CommandSplitter(text, context.interpolator)
            do throws(ValueError) {
                return try splitter.split().map { argument in
                    template(
                        Checked(
                            place: command.place, path: command.path, value: .template(argument)))
                }
            } catch {
                log.error(command, error)
                return []
            }
        case .list(let items):
            let arguments = items.map { template($0) }
            if arguments.first == Template(literal: "") {
                log.error(command, "the first argument is empty: it is the program to run")
            }
            return arguments
        case .text, .template, .flag, .integer, .number, .duration, .size, .signal, .limit, .map,
            .object:
            return []
        }
    }

    private mutating func readProvides() -> [String: Template?] {
        var provides: [String: Template?] = [:]
        for entry in keys["provides"]?.map ?? [] {
            // A map here can only say that the value comes with READY.
            let isStatic = entry.value.object == nil
            provides.updateValue(isStatic ? template(entry.value) : nil, forKey: entry.key)
        }
        return provides
    }

    private func readOutput() -> OutputDefinition {
        var output = OutputDefinition()
        guard let given = keys["output"]?.object else { return output }
        output.file = given["file"]?.text.map(context.path)
        output.maxBytes = given["maxSize"]?.size ?? output.maxBytes
        output.keptFiles = given["keep"]?.integer.map { Int($0) } ?? output.keptFiles
        output.maxLineBytes = given["maxLine"]?.size.map { Int($0) } ?? output.maxLineBytes
        output.separatesErrors = given["separate"]?.flag ?? output.separatesErrors
        return output
    }
}

extension ServiceKeys {
    var isOneshot: Bool { values["type"]?.text == "oneshot" }

    /// Reports keys that are for the other type of service. Those of `defaults` are for the
    /// services they fit.
    fileprivate func reportMisfits(_ log: DiagnosticLog) {
        for key in Self.choosyKeys {
            guard let value = values[key.name], !fromDefaults.contains(key.name) else { continue }
            switch (key.fits, isOneshot) {
            case (.every, _), (.service, false), (.oneshot, true): break
            case (.service, true):
                log.error(value, "\(key.name) is not for a oneshot, and \(name) is one")
            case (.oneshot, false):
                log.error(
                    value, "\(key.name) is only for a oneshot, and \(name) is not one",
                    suggestion: "add type: oneshot, or remove \(key.name)")
            }
        }
    }

    private static let choosyKeys = SchemaTable.service.keys.filter { key in
        switch key.fits {
        case .every: false
        case .service, .oneshot: true
        }
    }

    /// The value of a key, if it fits the type of the service.
    func fitting(_ key: String) -> Checked? {
        switch (SchemaTable.service[key]?.fits, isOneshot) {
        case (.service, true), (.oneshot, false): nil
        case (.every, _), (.service, false), (.oneshot, true), (nil, _): values[key]
        }
    }
}
