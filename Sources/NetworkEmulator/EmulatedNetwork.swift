public import CoreModel

/// A network in virtual time: nodes with an uplink and a downlink each, links that some of them share, and connections
/// between them, over which messages of so many bytes travel.
///
/// The owner adds nodes, connects them and sends messages; then it asks for the next delivery again and again:
///
/// ```swift
/// while let delivery = network.nextDelivery(until: myNextEvent) { … network.send(…) … }
/// ```
///
/// What it models:
/// - **Uplinks are fair.** The connections of a node take turns by bytes (deficit round robin, one frame or so each); one
///   that has not used its share of the round goes before those that have when it gets something to send, as a small packet
///   between large ones would. Within a connection messages keep their order, but control messages go before data at
///   the next border of a frame.
/// - **Every other link is fair too**: downlinks and both directions of shared links are queues with the same round robin.
///   A frame that finds such a link idle passes while it comes in (cut-through), as packets do; only waiting and a slower
///   link cost time.
/// - **Windows push back.** A connection has a limited number of bytes in flight; while they are, it doesn't take part in
///   its uplink's round, so that a slow receiver never holds up a fast one. The window doubles per round trip at first, as
///   TCP's does, then keeps a small standing queue at the bottleneck (FAST TCP, Wei et al., IEEE/ACM ToN 2006). With fair
///   queueing at each link the rates become max-min fair by themselves (Hahne, IEEE JSAC 1991); nothing ever computes all
///   rates anew, and ``maxMinRates(of:)`` is there to check.
/// - **Delay** is the sum of the two nodes' own and that between their regions; inside a site, the site's.
/// - **Loss** caps the rate of a connection at what TCP gets out of it (Mathis et al., CCR 1997).
///
/// - **Acknowledgements** take their part of a busy uplink, when the configuration says so.
///
/// What it leaves out: packets, retransmitted bytes, the way of acknowledgements (a window opens when a frame arrives, not
/// half a round trip later; the growth of windows makes up for it), headers (callers count them into their messages), queues that
/// overflow, and delay that varies.
///
/// Nothing here is random except what draws from the generator passed to ``connect(_:to:using:)``; equal calls give equal
/// deliveries. All state is in flat arrays.
public struct EmulatedNetwork: Sendable {
    /// Control messages go before data messages of the same connection.
    public enum Priority: Hashable, Sendable, BitwiseCopyable {
        case control, data
    }

    struct Node: Sendable {
        var configuration: NodeConfiguration
        /// Its uplink, twice its own number; its downlink comes after it.
        var pipe: Int32
        var firstFlow: Int32 = -1
        var isPresent = true
    }

    struct SharedLink: Sendable {
        var configuration: SharedLinkConfiguration
        /// Its pipe to the backbone; after it that from the backbone, and for a site that of its inside.
        var pipe: Int32
        var depth: Int
    }

    /// What an event is about.
    enum Event {
        /// A frame comes to the hop after its uplink.
        case arrival(frame: Int32)
        /// A pipe is through with its frame.
        case free(pipe: Int32)
        /// A flow whose rate is limited may send again.
        case eligible(flow: Int32)

        init(_ code: UInt32) {
            let index = Int32(truncatingIfNeeded: code & 0x3FFF_FFFF)
            switch code >> 30 {
            case 0: self = .arrival(frame: index)
            case 1: self = .free(pipe: index)
            default: self = .eligible(flow: index)
            }
        }

        /// In one word, since a queue of a million events should be small.
        var code: UInt32 {
            switch self {
            case .arrival(let frame): UInt32(frame)
            case .free(let pipe): 1 << 30 | UInt32(pipe)
            case .eligible(let flow): 2 << 30 | UInt32(flow)
            }
        }
    }

    /// What holds for the whole network.
    public let configuration: NetworkConfiguration

    /// The virtual time.
    public internal(set) var now: MonotonicInstant {
        get { MonotonicInstant(nanoseconds: clock) }
        set { clock = newValue.nanoseconds }
    }

    var clock: Int64
    var events: EventQueue<UInt32>
    var nodes: [Node] = []
    var freeNodes: [Int32] = []
    var sharedLinks: [SharedLink] = []
    var pipes: ContiguousArray<Pipe> = []
    var rounds: ContiguousArray<Round> = []
    var flows: ContiguousArray<Flow> = []
    var details: ContiguousArray<FlowDetails> = []
    /// The first flow of each pair that is free.
    var freePairs: [Int32] = []
    var stages: ContiguousArray<Stage> = []
    /// Free runs of stages by their length.
    var freeStages: [[Int32]] = Array(repeating: [], count: 2 * SharedLinkConfiguration.maximumDepth + 4)
    var frames: ContiguousArray<Frame> = []
    var freeFrame: Int32 = -1
    /// Whether a message was ever taken back.
    var hasCancelled = false
    /// Deliveries that the owner has not taken, from `firstDelivery` on.
    var deliveries: ContiguousArray<Delivery> = []
    var firstDelivery = 0
    let quantum: Int32
    let standingQueue: Float

    /// Makes a network without nodes.
    public init(configuration: NetworkConfiguration = NetworkConfiguration(), now: MonotonicInstant = .origin) {
        precondition((1...1 << 24).contains(configuration.frameByteCount), "a frame has 1 byte to 16 MiB")
        self.configuration = configuration
        quantum = Int32(configuration.frameByteCount)
        standingQueue = Float(configuration.standingQueueByteCount)
        clock = now.nanoseconds
        events = EventQueue(now: now)
    }

    // MARK: Running

    /// When something happens next, inside the network or for the owner; `nil` when all is quiet.
    public var nextEventTime: MonotonicInstant? {
        mutating get {
            firstDelivery < deliveries.count ? now : events.nextTime()
        }
    }

    /// Runs up to the next delivery, or to `limit` if none comes before.
    ///
    /// - Returns: The delivery; ``now`` is then the time at which it happened, and an answer can be sent at once. `nil`
    ///   when there is none up to `limit`; ``now`` is then `limit`, unless that is the distant future.
    public mutating func nextDelivery(until limit: MonotonicInstant) -> Delivery? {
        while true {
            if let delivery = popDelivery() { return delivery }
            guard let (time, event) = events.popFirst(notAfter: limit) else {
                if limit > now, limit != .distantFuture {
                    clock = limit.nanoseconds
                    events.advance(to: limit)
                }
                return nil
            }
            clock = time.nanoseconds
            process(Event(event))
        }
    }

    /// Runs up to `limit` and appends all deliveries up to it, each with its own time.
    public mutating func advance(to limit: MonotonicInstant, into results: inout [Delivery]) {
        while let delivery = nextDelivery(until: limit) { results.append(delivery) }
    }

    /// The next delivery that has happened already.
    mutating func popDelivery() -> Delivery? {
        guard firstDelivery < deliveries.count else { return nil }
        let delivery = deliveries[firstDelivery]
        firstDelivery += 1
        if firstDelivery == deliveries.count {
            deliveries.removeAll(keepingCapacity: true)
            firstDelivery = 0
        }
        return delivery
    }

    mutating func process(_ event: Event) {
        switch event {
        case .arrival(let frame):
            guard frames[Int(frame)].flags.contains(.onWire), frames[Int(frame)].arrival == clock else { return }
            frames[Int(frame)].flags.remove(.onWire)
            frames[Int(frame)].hop = 1
            arrive(frame)
        case .free(let pipe):
            guard pipes[Int(pipe)].isScheduled, pipes[Int(pipe)].busyUntil == clock else { return }
            pipes[Int(pipe)].isScheduled = false
            if pipes[Int(pipe)].isUplink {
                serveUplink(pipe)
            } else {
                finishCurrent(pipe)
            }
        case .eligible(let flow):
            guard details[Int(flow)].eligible == clock, flows[Int(flow)].flags.contains(.waitsForPace) else { return }
            flows[Int(flow)].flags.remove(.waitsForPace)
            rejoin(flow)
        }
    }

    // MARK: Figures

    /// The memory held by the network, in bytes.
    public var byteCount: Int {
        events.byteCount + nodes.capacity * MemoryLayout<Node>.stride + pipes.capacity * MemoryLayout<Pipe>.stride
            + rounds.capacity * MemoryLayout<Round>.stride + flows.capacity * MemoryLayout<Flow>.stride
            + details.capacity * MemoryLayout<FlowDetails>.stride + stages.capacity * MemoryLayout<Stage>.stride
            + frames.capacity * MemoryLayout<Frame>.stride + deliveries.capacity * MemoryLayout<Delivery>.stride
    }
}
