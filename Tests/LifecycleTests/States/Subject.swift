@testable import Stoic

/// What the service under test may be other than a service with every policy at its default.
enum Subject {
    static func oneshot(_ spec: inout ServiceSpec) {
        spec.kind = .oneshot(rerunsWithNeeds: false, keepsTree: false)
        spec.readiness = .completion
    }

    static func rerunning(_ spec: inout ServiceSpec) {
        spec.kind = .oneshot(rerunsWithNeeds: true, keepsTree: false)
        spec.readiness = .completion
    }

    static func keepingItsTree(_ spec: inout ServiceSpec) {
        spec.kind = .oneshot(rerunsWithNeeds: true, keepsTree: true)
        spec.readiness = .completion
    }

    static func manual(_ spec: inout ServiceSpec) { spec.startsAutomatically = false }
    static func neverAgain(_ spec: inout ServiceSpec) { spec.restart.mode = .no }
    static func withoutRestarts(_ spec: inout ServiceSpec) { spec.restart.limitCount = 0 }
}
