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
        let conducts = conducts(of: count, polluters: polluters, freeriders: freeriders)
        var viewers: [ViewerRun.Viewer] = []
        for index in 0..<count {
            var configuration = try ViewerOptions.configuration(
                arguments, url: arguments.operands[index % arguments.operands.count])
            configuration.conduct = conducts[index]
            viewers.append(
                ViewerRun.Viewer(
                    configuration: configuration, joinsAfter: stagger * index,
                    decodes: arguments.flag("decode") || frames != nil, frameFile: frames.map { "\($0).\(index)" }))
        }
        let outcome = try await ViewerRun.play(
            viewers, limit: arguments.duration("duration"), log: ViewerOptions.log(arguments))
        return try FiguresReport.deliver(outcome, arguments)
    }

    /// Who misbehaves: spread evenly over the order of joining, so that early and late viewers meet each kind.
    static func conducts(of count: Int, polluters: Int, freeriders: Int) -> [SessionConfiguration.Conduct] {
        var conducts = [SessionConfiguration.Conduct](repeating: .honest, count: count)
        for (conduct, number) in [(SessionConfiguration.Conduct.polluting, polluters), (.freeRiding, freeriders)] {
            let left = conducts.indices.filter { conducts[$0] == .honest }
            for turn in 0..<number { conducts[left[(2 * turn + 1) * left.count / (2 * number)]] = conduct }
        }
        return conducts
    }
}
