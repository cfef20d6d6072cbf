internal import Manifest
extension CommandRun {
    func up() throws(Failure) -> ExitCode { .defect }
    func change() throws(Failure) -> ExitCode { .defect }
    func status() throws(Failure) -> ExitCode { .defect }
    func logs() throws(Failure) -> ExitCode { .defect }
    func events() throws(Failure) -> ExitCode { .defect }
    func why() throws(Failure) -> ExitCode { .defect }
    func wait() throws(Failure) -> ExitCode { .defect }
    func config() throws(Failure) -> ExitCode { .defect }
    func version() -> ExitCode { .defect }
}
