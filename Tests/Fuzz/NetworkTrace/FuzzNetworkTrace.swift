import FuzzSupport
import Simulator

/// Network traces in every format, and movies: what is read has steps, and a mean that follows from them.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let choice = Int(input.byte())
    let bytes = input.rest()
    let formats = TraceFormat.allCases
    guard choice % (formats.count + 1) < formats.count else {
        if let movie = try? TraceMovie(sabre: bytes) { precondition(!movie.segmentBits.isEmpty) }
        return 0
    }
    let direction: LinkDirection = choice & 0x80 == 0 ? .down : .up
    let format = formats[choice % (formats.count + 1)]
    guard let trace = try? NetworkTrace(bytes, format: format, direction: direction) else { return 0 }
    precondition(!trace.steps.isEmpty && trace.steps.count <= NetworkTrace.stepLimit)
    precondition(trace.steps.allSatisfy { $0.duration > .zero && $0.bitsPerSecond >= 0 && $0.latency >= .zero })
    precondition(trace.meanBitsPerSecond.isFinite && trace.meanBitsPerSecond >= 0)
    return 0
}
