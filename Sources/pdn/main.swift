import CommandLineSupport
import Foundation

// Output into a pipe that nobody reads any more is an error to report, not the end of the process.
signal(SIGPIPE, SIG_IGN)
await PDN.run(Array(CommandLine.arguments.dropFirst())).leave()
