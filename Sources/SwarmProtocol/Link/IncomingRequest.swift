internal import CoreModel

/// A request of the other side that has not ended.
struct IncomingRequest: Sendable {
    let id: ChunkRequestID
    let root: Digest
    private let firstChunk: UInt16
    /// Chunks whose availability has not been asked for yet.
    var fresh: ChunkBits
    /// Chunks that were available or stored when last asked for.
    var ready: ChunkBits = .none
    /// Chunks that are expected or being brought back.
    var standing: ChunkBits = .none
    /// Those of ``standing`` that are being brought back.
    var loading: ChunkBits = .none
    /// Chunks that were ready and wait until what is being brought back for the link is there.
    var stored: ChunkBits = .none
    /// Stripes, counted from the first chunk's, whose leaves go before their first chunk.
    var leavesOwed: ChunkBits
    /// Until when it may wait behind others: before the other side takes the link for stalled.
    let patienceEnds: MonotonicInstant
    /// How much it needs to be answered.
    private(set) var need: UploadNeed

    init(_ request: ChunkRequest, now: MonotonicInstant) {
        id = request.id
        root = request.root
        firstChunk = UInt16(request.chunks.lowerBound)
        fresh = ChunkBits(count: request.chunks.count)
        leavesOwed = request.wantsLeaves ? ChunkBits(count: request.chunks.stripes.count) : .none
        need = UploadNeed(deadline: now.advanced(by: request.timeLeft), start: nil)
        patienceEnds = now.advanced(by: max(.milliseconds(1500), request.timeLeft / 8))
    }

    var first: Int { Int(firstChunk) }

    /// When the time left is over.
    var deadline: MonotonicInstant { need.deadline }

    /// Chunks that have not ended.
    var outstanding: ChunkBits { fresh.union(ready).union(standing).union(stored) }

    func isNeglected(_ now: MonotonicInstant) -> Bool { patienceEnds <= now && !ready.isEmpty }

    /// Takes note of where the segment starts, when that is known.
    mutating func note(start: Duration?) { need = UploadNeed(deadline: deadline, start: start) }

    /// The bit of the stripe of `chunk` in ``leavesOwed``.
    func stripeBit(ofChunk chunk: Int) -> Int {
        chunk / SegmentGeometry.chunksPerStripe - first / SegmentGeometry.chunksPerStripe
    }
}
