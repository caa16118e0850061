/// Benchmarks with the limit that each is held against, measured in the same run. Scripts/bench.sh builds and runs it.
///
/// usage: pdn-bench [NAME…]
///        pdn-bench latency-serve HOST:PORT     (the two sides of control-latency, for a link with limits between them)
///        pdn-bench latency-fetch HOST:PORT
///        pdn-bench simulation VIEWERS…         (as many viewers as that, one run after the other)
///        pdn-bench scheduler LOG…              (decision logs, as pdn swarm --decisions writes them)
///        pdn-bench startup URL LABEL SETTING…  (needs a CDN and a tracker; LABEL stands behind the figures' names)

import CoreModel
import EventLoop
import Glibc

let benchmarks: [(name: String, run: () throws -> [Measurement])] = [
    ("tree-hashing", HashingBenchmark.run),
    ("link", LinkBenchmark.run),
    ("idle-link", IdleLinkBenchmark.run),
    ("neighbourhood", NeighbourhoodBenchmark.run),
    ("network-emulator", NetworkBenchmark.run),
    ("simulation", SimulationBenchmark.run),
]

/// Says on stderr what went wrong.
func complain(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

/// Runs one benchmark and prints its lines.
func report(_ name: String, _ run: () throws -> [Measurement]) {
    do {
        for measurement in try run() {
            print(measurement.line)
            fflush(nil)
        }
    } catch {
        complain("pdn-bench: \(name): \(error)\n")
        exit(1)
    }
}

if CommandLine.arguments.count == 3, let address = NetworkAddress(parsing: CommandLine.arguments[2]) {
    switch CommandLine.arguments[1] {
    case "latency-serve":
        report("latency-serve") {
            try LatencyBenchmark.serve(at: address)
            return []
        }
        exit(0)
    case "latency-fetch":
        report("latency-fetch") { try LatencyBenchmark.fetch(from: address) }
        exit(0)
    default: break
    }
}

if CommandLine.arguments.count >= 4, CommandLine.arguments[1] == "startup" {
    report("startup") {
        try StartupBenchmark.run(
            url: CommandLine.arguments[2], label: CommandLine.arguments[3],
            settings: Array(CommandLine.arguments.dropFirst(4)))
    }
    exit(0)
}

if CommandLine.arguments.count >= 3, CommandLine.arguments[1] == "scheduler" {
    report("scheduler") { try SchedulerBenchmark.run(paths: Array(CommandLine.arguments.dropFirst(2))) }
    exit(0)
}

let counts = CommandLine.arguments.dropFirst(2).compactMap { Int($0) }
if !counts.isEmpty, counts.count == CommandLine.arguments.count - 2, CommandLine.arguments[1] == "simulation" {
    report("simulation") { try SimulationBenchmark.run(viewerCounts: counts) }
    exit(0)
}

let wanted = CommandLine.arguments.dropFirst()
if let unknown = wanted.first(where: { name in !benchmarks.contains { $0.name == name } }) {
    let names = benchmarks.map(\.name).joined(separator: ", ")
    complain("pdn-bench: there is no benchmark \"\(unknown)\"; there are \(names)\n")
    exit(2)
}
for benchmark in benchmarks where wanted.isEmpty || wanted.contains(benchmark.name) {
    report(benchmark.name, benchmark.run)
}
