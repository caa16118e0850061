import FuzzSupport
import Simulator

/// Decision logs: one that is read can be replayed and explained, whatever it says.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    guard let log = try? DecisionLog(input.rest()) else { return 0 }
    _ = Replay.run(log)
    _ = Explanation(log).sentences.map { "\($0)" }
    return 0
}
