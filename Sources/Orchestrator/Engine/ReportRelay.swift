import Stoic

/// Hands reports of the engine's parts to the engine, which is not there yet when they are made.
final class ReportRelay {
    weak var engine: Engine? {
        didSet {
            for wish in early { engine?.heard(wish) }
            early = []
        }
    }
    /// Signals that arrived before the engine was there.
    private var early: [EngineSignals.Wish] = []

    func heard(_ wish: EngineSignals.Wish) {
        if let engine { engine.heard(wish) } else { early.append(wish) }
    }

    func send(_ report: OutputReport) {
        engine?.tell(
            "output.report", .warning, report.description, [("service", .text(report.service.text))]
        )
    }

    /// A process that left its service's tree, and that nobody can claim.
    func found(_ stray: ProcessIdentity) {
        engine?.tell(
            "project.strayFound", .warning,
            "\(stray) belongs to no service any more; it is killed when everything stops",
            [("pid", .integer(Int64(stray.pid)))])
    }
}
