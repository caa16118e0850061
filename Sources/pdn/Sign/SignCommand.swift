import CommandLineSupport
import CoreModel
import Cryptography
import EventLoop
import Integrity

/// `pdn sign`: downloads every segment of a title once and writes its signed catalogue.
enum SignCommand: Subcommand {
    static let name = "sign"

    static let specification = CommandSpecification(
        name: "pdn sign", summary: "downloads every segment of a title once and writes its signed catalogue",
        operands: "MANIFEST…", operandCount: 1...16,
        options: [
            .repeated("key", "FILE", "an authority key, made by 'pdn keygen --role authority'; several sign together"),
            .value("stream", "NAME", "the stream's name: the same for everything of the title", isRequired: true),
            .value("out", "FILE", "where the catalogue goes; a journal lies beside it meanwhile", isRequired: true),
            .value("title", "TEXT", "the title for people; the stream's name unless given"),
            .value("epoch", "N", "bump it when other bytes come under the old numbers; 0 unless given"),
            .value("expires", "DURATION", "how long the catalogue counts; 365d unless given"),
            .value("jobs", "N", "downloads at once; 8 unless given"),
            .flag("restart", "forget what an earlier, unfinished run has downloaded"),
            .flag("json", "print one JSON document"),
        ],
        notes: [
            "Several manifests, HLS and DASH of the same title, go into one catalogue; what they share is downloaded once. "
                + "An unfinished run is taken up where it stopped. Serve the catalogue beside the manifest, under the "
                + "manifest's path with .pdn behind it, or give viewers its address with --catalogue."
        ])

    static func run(_ arguments: CommandArguments) async throws -> ExitCode {
        let options = try SignOptions(arguments)
        let loop = try EventLoop.startThread(named: "pdn sign")
        let downloader = await SegmentDownloader.start(
            on: loop, connectionCount: options.jobs, suite: options.suite)
        let run = Task { try await SigningRun(options: options, downloader: downloader).run() }
        // Downloads stop, the journal stays, and the command ends in order.
        let interrupt = await Interrupt.watch(on: loop) { run.cancel() }
        let result = await run.result
        await interrupt.close()
        await downloader.close()
        await loop.shutDown()
        switch result {
        case .success(let summary):
            summary.print(asJSON: arguments.flag("json"))
            return .done
        case .failure(is CancellationError):
            Terminal.note("pdn sign: stopped; the same command goes on from here")
            return .interrupted
        case .failure(let error): throw error
        }
    }
}
