internal import Orchestrator
internal import Stoic

extension Need {
    /// Writes it as one JSON object, every default spelled out.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("service")
        writer.value(service.text)
        writer.key("condition")
        writer.value(condition.word)
        writer.key("required")
        writer.value(isRequired)
        writer.key("onNeedLost")
        writer.value(onNeedLost.word)
        writer.endObject()
    }
}

extension Need.Condition {
    /// The word of the config.
    var word: String {
        switch self {
        case .started: "started"
        case .ready: "ready"
        case .completed: "completed"
        }
    }
}

extension Need.OnNeedLost {
    /// The word of the config.
    var word: String {
        switch self {
        case .ignore: "ignore"
        case .wait: "wait"
        case .restart: "restart"
        }
    }
}

extension ServiceSpec.StartFailureRule {
    /// The word of the config.
    var word: String {
        switch self {
        case .rollback: "rollback"
        case .keep: "keep"
        }
    }
}

extension RestartPolicy.Mode {
    /// The word of the config.
    var word: String {
        switch self {
        case .no: "no"
        case .onFailure: "onFailure"
        case .always: "always"
        }
    }
}

extension SignalTarget {
    /// The word of the config.
    var word: String {
        switch self {
        case .main: "main"
        case .group: "group"
        case .tree: "tree"
        }
    }
}
