import OrchestratorCLI

exitProcess(with: runCommandLine(CommandLine.arguments))
