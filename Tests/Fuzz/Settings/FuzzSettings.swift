import CommandLineSupport
import Foundation
import FuzzSupport
import VBPlayer

/// Options of every form, named after those of the tools.
let specification = CommandSpecification(
    name: "tool", summary: "fuzz", operands: "URL…", operandCount: 0...4,
    options: [
        .value("out", "FILE", "text", isRequired: true), .repeated("set", "KEY=VALUE", "texts"),
        .flag("json", "a flag"), .value("viewers", "N", "a number"), .value("start", "TIME", "a span of time"),
        .value("uplink", "RATE", "a rate"), .value("cache", "SIZE", "a size"), .value("role", "WORD", "a word"),
    ])
let options = Dictionary(uniqueKeysWithValues: specification.options.map { ($0.name, $0) })

enum Role: String, CaseIterable { case authority, membership, token }

/// What people and scripts configure: words of a command line, a configuration file, the line and the dictionary of a player,
/// a single setting.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    switch input.byte() % 5 {
    case 0:
        // A file named by the words would be another input, and might be a device.
        let words = input.text().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard !words.contains(where: { $0.hasPrefix("--config") }) else { return 0 }
        if case .run(let arguments)? = try? CommandParser.parse(words, for: specification) { read(arguments) }
    case 1:
        if let values = try? CommandParser.configuration(input.rest(), of: "file", options: options) {
            read(CommandArguments(values: values))
        }
    case 2:
        if let settings = try? PlayerSettings(line: input.text()) { check(settings) }
    case 3:
        let object = try? JSONSerialization.jsonObject(with: Data(input.rest()))
        if let object = object as? [String: Any], let settings = try? PlayerSettings(dictionary: object) {
            check(settings)
        }
    default:
        var settings = PlayerSettings()
        let name = String(decoding: input.piece(), as: UTF8.self)
        try? settings.store(name: name, text: input.text())
        check(settings)
    }
    return 0
}

/// Reads every option as what it should be.
func read(_ arguments: CommandArguments) {
    _ = arguments.flag("json")
    _ = try? arguments.integer("viewers", in: 1...1000, default: 1)
    if let span = try? arguments.duration("start") { precondition(span >= .zero, "a span is not negative") }
    if let rate = try? arguments.bitsPerSecond("uplink") { precondition(rate >= 0, "a rate is not negative") }
    if let size = try? arguments.byteCount("cache") {
        precondition(size >= 0, "a size is not negative")
        _ = Quantity.describe(byteCount: size)
    }
    _ = try? arguments.choice("role", default: Role.token)
    _ = arguments.values("set")
}

/// What the table of settings promises of each value that it lets through.
func check(_ settings: PlayerSettings) {
    precondition(settings.trackers.count <= 8 && settings.trustedAuthorities.count <= 8, "lists are bounded")
    precondition((1...8).contains(settings.requiredSignatures))
    precondition((0...100).contains(settings.uploadShare))
    precondition((8 << 20...64 << 30).contains(settings.memoryByteCount))
    precondition(settings.uploadBitsPerSecond.map { (0...100_000_000_000).contains($0) } ?? true)
    precondition(settings.downloadBitsPerSecond.map { (64_000...100_000_000_000).contains($0) } ?? true)
    precondition(settings.streamName.map { (1...256).contains($0.utf8.count) } ?? true)
    _ = settings.sessionConfiguration(url: "https://host/a.mpd")
}
