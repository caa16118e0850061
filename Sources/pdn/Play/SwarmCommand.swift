import CommandLineSupport
import CoreModel
import Delivery

/// `pdn swarm`: many complete viewers in this process, over real sockets.
enum SwarmCommand: Subcommand {
    static let name = "swarm"

    static let specification = CommandSpecification(
        name: "pdn swarm", summary: "plays a stream with many viewers at once", operands: "URL…",
        operandCount: 1...16,
        options: [
            .value("viewers", "N", "how many viewers (1 to 1000)", isRequired: true),
            .value("stagger", "TIME", "the time between two joins (default 0)"),
            .value("polluters", "K", "how many of them alter what they upload"),
            .value("freeriders", "K", "how many of them never upload"),
            .flag("decode", "decode every viewer's media"),
        ] + ViewerOptions.all,
        notes: [
            "Several addresses (HLS and DASH of a title) are given to the viewers in turn. The exit code is 1 when a viewer "
                + "failed."
        ])

    static func run(_ arguments: CommandArguments) async throws -> ExitCode {
        let count = try arguments.integer("viewers", in: 1...1000, default: 1)
        let polluters = try arguments.integer("polluters", in: 0...count, default: 0)
        let freeriders = try arguments.integer("freeriders", in: 0...(count - polluters), default: 0)
        let stagger = try arguments.duration("stagger") ?? .zero
        let frames = arguments.value("frame-md5")
        var viewers: [ViewerRun.Viewer] = []
        for index in 0..<count {
            var configuration = try ViewerOptions.configuration(
                arguments, url: arguments.operands[index % arguments.operands.count])
            if index >= count - polluters {
                configuration.conduct = .polluting
            } else if index >= count - polluters - freeriders {
                configuration.conduct = .freeRiding
            }
            viewers.append(
                ViewerRun.Viewer(
                    configuration: configuration, joinsAfter: stagger * index,
                    decodes: arguments.flag("decode") || frames != nil, frameFile: frames.map { "\($0).\(index)" }))
        }
        let outcome = try await ViewerRun.play(
            viewers, limit: arguments.duration("duration"), isVerbose: arguments.flag("verbose"))
        return try FiguresReport.deliver(outcome, arguments)
    }
}
