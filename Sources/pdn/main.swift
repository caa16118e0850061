import CommandLineSupport
import Foundation

exit(await PDN.run(Array(CommandLine.arguments.dropFirst())).rawValue)
