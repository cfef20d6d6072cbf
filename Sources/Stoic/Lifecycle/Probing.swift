/// A service that is probed, once it was ready, for whether it still lives.
///
/// How often, with what and for how long is the host's; how many failures in a row are too many,
/// and what follows, is decided here. What fails its probes is stopped by its whole ladder, since
/// it may have been slow and not dead, and then follows its restart policy. While probes fail its
/// delays do not come to start over.
extension LifecycleMachine {
    mutating func watchLiveness(_ slot: Int, _ life: Incarnation, _ turn: inout Turn) {
        guard nodes[slot].spec.liveThreshold != nil, nodes[slot].facts.failedProbes == nil else {
            return
        }
        nodes[slot].facts.failedProbes = 0
        perform(.watchLiveness(nodes[slot].id, life), &turn)
    }

    mutating func endLiveness(_ slot: Int, _ life: Incarnation, _ turn: inout Turn) {
        guard nodes[slot].facts.failedProbes != nil else { return }
        nodes[slot].facts.failedProbes = nil
        perform(.endLiveness(life), &turn)
    }

    mutating func probePassed(_ slot: Int, _ life: Incarnation, _ turn: inout Turn) {
        guard let failed = nodes[slot].facts.failedProbes, failed > 0 else {
            report(.noted, slot, &turn)
            return
        }
        nodes[slot].facts.failedProbes = 0
        report(.probePassed, slot, &turn)
        armHealthy(slot, life, &turn)
    }

    mutating func probeFailed(
        _ slot: Int, _ life: Incarnation, _ reason: String, _ turn: inout Turn
    ) {
        guard let before = nodes[slot].facts.failedProbes,
            let threshold = nodes[slot].spec.liveThreshold
        else {
            report(.noted, slot, &turn)
            return
        }
        let count = before + 1
        nodes[slot].facts.failedProbes = count
        report(.probeFailed(reason, count: count, of: threshold), slot, &turn)
        perform(.disarm(.healthy(life)), &turn)
        guard count >= threshold else { return }
        disarmUp(slot, life, &turn)
        let failure = ServiceFailure.probesFailed(reason, count: count)
        let then = afterFailure(slot, failure, &turn)
        failRunning(slot, life, .failure(failure), then, &turn)
    }
}
