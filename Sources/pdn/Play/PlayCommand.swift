import CommandLineSupport
import CoreModel
import Delivery

/// `pdn play`: plays one stream.
enum PlayCommand: Subcommand {
    static let name = "play"

    static let specification = CommandSpecification(
        name: "pdn play", summary: "plays a stream", operands: "URL", operandCount: 1...1,
        options: [
            .flag("headless", "decode in real time without window and sound"),
            .flag("unpaced", "decode as fast as the media comes, for checks"),
        ] + ViewerOptions.all,
        notes: ["Window and sound are not there yet: --headless is needed."])

    static func run(_ arguments: CommandArguments) async throws -> ExitCode {
        guard arguments.flag("headless") else {
            throw CommandFailure.usage("pdn play has no window and no sound yet; add --headless")
        }
        let configuration = try ViewerOptions.configuration(arguments, url: arguments.operands[0])
        let viewer = ViewerRun.Viewer(
            configuration: configuration, decodes: true, frameFile: arguments.value("frame-md5"))
        let outcome = try await ViewerRun.play(
            [viewer], limit: arguments.duration("duration"), isUnpaced: arguments.flag("unpaced"),
            log: ViewerOptions.log(arguments))
        return try FiguresReport.deliver(outcome, arguments)
    }
}
