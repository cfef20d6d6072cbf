// warden: runs one scenario of launches and trees in a process of its own, on its main thread.
//
//   warden SCENARIO RUNAWAY [--without BITS] [--cgroup]
//
// 0: the scenario held; 1: it did not, and stderr says what; 64: usage; 75: a wait took too long;
// 77: not permitted here.
import Glibc
import Orchestrator

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 2, let scenario = Scenario.all[arguments[0]] else {
    complain("no such scenario: \(arguments.first ?? "none")")
    exit(64)
}
var missing: UInt32 = 0
if let place = arguments.firstIndex(of: "--without") { missing = UInt32(arguments[place + 1]) ?? 0 }
do {
    let setting = Scenario.Setting(
        runaway: arguments[1], missing: missing, cgroups: arguments.contains("--cgroup"))
    try scenario(setting)
} catch {
    complain("\(arguments.joined(separator: " ")): \(error)")
    exit(1)
}
exit(0)
