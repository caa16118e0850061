import CommandLineSupport
import Foundation

let code = await CommandDispatcher.run(
    TrackerCommand.specification, version: TrackerCommand.version, Array(CommandLine.arguments.dropFirst()),
    TrackerCommand.run)
exit(code.rawValue)
