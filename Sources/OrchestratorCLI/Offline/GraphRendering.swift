internal import Manifest
internal import Orchestrator
internal import Stoic

/// A project's needs, drawn.
struct GraphDrawing {
    private let services: [ServiceDefinition]
    private let graph: NeedGraph

    init(_ project: ProjectDefinition) {
        services = project.services
        graph = NeedGraph(project)
    }

    /// A table in the order of the start: services of one wave can start together.
    func text(_ style: Style) -> String {
        var table = TextTable(["WAVE", "SERVICE", "NEEDS"])
        for index in graph.startOrder {
            let spec = services[index].spec
            let marks = marks(spec)
            let name = spec.name.text + (marks.isEmpty ? "" : " (\(marks.joined(separator: ", ")))")
            let needs = spec.needs.map { $0.service.text + edgeRemark($0).map { " (\($0))" }.text }
            table.add([
                .init(String(graph.waves[index] + 1), .faint), .init(name, .bold),
                .init(needs.isEmpty ? "-" : needs.joined(separator: ", ")),
            ])
        }
        return table.text(style)
    }

    private func marks(_ spec: ServiceSpec) -> [String] {
        var marks: [String] = []
        if spec.kind != .service { marks.append("oneshot") }
        if spec.isEssential { marks.append("essential") }
        if !spec.startsAutomatically { marks.append("manual") }
        return marks
    }

    /// What is not the default of a need.
    private func edgeRemark(_ need: Need) -> String? {
        var words: [String] = []
        switch need.condition {
        case .ready: break
        case .started: words.append("started")
        case .completed: words.append("completed")
        }
        if !need.isRequired { words.append("optional") }
        switch need.onNeedLost {
        case .ignore: break
        case .wait: words.append("waits when lost")
        case .restart: words.append("restarts when lost")
        }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }

    /// For Graphviz; arrows point at what is needed.
    var dot: String {
        var lines = ["digraph project {", "    rankdir=LR;", "    node [shape=box];"]
        for service in services {
            let spec = service.spec
            let shape = spec.kind == .service ? "" : " [style=rounded]"
            lines.append("    \(dotQuoted(spec.name.text))\(shape);")
        }
        for service in services {
            for need in service.spec.needs {
                var attributes: [String] = []
                if !need.isRequired { attributes.append("style=dashed") }
                if let remark = edgeRemark(need) {
                    attributes.append("label=\(dotQuoted(remark))")
                }
                let suffix = attributes.isEmpty ? "" : " [\(attributes.joined(separator: ", "))]"
                let edge =
                    "\(dotQuoted(service.spec.name.text)) -> \(dotQuoted(need.service.text))"
                lines.append("    \(edge)\(suffix);")
            }
        }
        return (lines + ["}"]).joined(separator: "\n")
    }

    private func dotQuoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// For Mermaid; nodes are numbered, because names may be words of its own (`end`).
    var mermaid: String {
        var lines = ["flowchart LR"]
        var indices: [ServiceName: Int] = [:]
        for (index, service) in services.enumerated() {
            let name = mermaidEscaped(service.spec.name.text)
            indices[service.spec.name] = index
            lines.append(
                service.spec.kind == .service
                    ? "    s\(index)[\"\(name)\"]" : "    s\(index)([\"\(name)\"])")
        }
        for (index, service) in services.enumerated() {
            for need in service.spec.needs {
                guard let target = indices[need.service] else { continue }
                let arrow = need.isRequired ? "-->" : "-.->"
                let label = edgeRemark(need).map { "|\"\(mermaidEscaped($0))\"|" }.text
                lines.append("    s\(index) \(arrow)\(label) s\(target)")
            }
        }
        return lines.joined(separator: "\n")
    }

    private func mermaidEscaped(_ text: String) -> String {
        text.replacing("#", with: "#35;").replacing("\"", with: "#quot;")
    }

    /// For programs: services in the order of their start.
    var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("services")
        writer.beginArray()
        for index in graph.startOrder {
            let spec = services[index].spec
            writer.beginObject()
            writer.key("name")
            writer.value(spec.name.text)
            writer.key("type")
            writer.value(spec.kind == .service ? "service" : "oneshot")
            writer.key("wave")
            writer.value(graph.waves[index] + 1)
            writer.key("needs")
            writer.beginArray()
            for need in spec.needs { need.write(to: &writer) }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.text
    }
}

extension Optional<String> {
    /// The text, or none.
    fileprivate var text: String { self ?? "" }
}

extension CommandRun {
    /// `graph`: draws what needs what.
    func graph() throws(Failure) -> ExitCode {
        let drawing = GraphDrawing(try loadConfig().project)
        switch (console.json, invocation.text(.format)) {
        case (true, _): console.answer(drawing.json)
        case (false, "dot"): console.answer(drawing.dot)
        case (false, "mermaid"): console.answer(drawing.mermaid)
        case (false, _): console.answer(drawing.text(console.style))
        }
        return .done
    }
}
