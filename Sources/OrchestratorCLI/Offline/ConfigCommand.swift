extension CommandRun { func config() throws(Failure) -> ExitCode { .defect } }
