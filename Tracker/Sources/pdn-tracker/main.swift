import CommandLineSupport
import Foundation

// Output into a pipe that nobody reads any more is an error to report, not the end of the process.
signal(SIGPIPE, SIG_IGN)
let code = await CommandDispatcher.run(
    TrackerCommand.specification, version: TrackerCommand.version, Array(CommandLine.arguments.dropFirst()),
    TrackerCommand.run)
code.leave()
