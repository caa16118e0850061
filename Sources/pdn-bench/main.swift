/// Benchmarks with the limit that each is held against, measured in the same run. Scripts/bench.sh builds and runs it.
///
/// usage: pdn-bench [NAME…]

import Glibc

let benchmarks: [(name: String, run: () throws -> [Measurement])] = [
    ("tree-hashing", HashingBenchmark.run),
    ("link", LinkBenchmark.run),
    ("idle-link", IdleLinkBenchmark.run),
]

/// Says on stderr what went wrong.
func complain(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

let wanted = CommandLine.arguments.dropFirst()
if let unknown = wanted.first(where: { name in !benchmarks.contains { $0.name == name } }) {
    let names = benchmarks.map(\.name).joined(separator: ", ")
    complain("pdn-bench: there is no benchmark \"\(unknown)\"; there are \(names)\n")
    exit(2)
}
for benchmark in benchmarks where wanted.isEmpty || wanted.contains(benchmark.name) {
    do {
        for measurement in try benchmark.run() {
            print(measurement.line)
            fflush(nil)
        }
    } catch {
        complain("pdn-bench: \(benchmark.name): \(error)\n")
        exit(1)
    }
}
