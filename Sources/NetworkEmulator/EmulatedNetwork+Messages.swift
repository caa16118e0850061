import CoreModel

extension EmulatedNetwork {
    /// Sends a message, now.
    ///
    /// - Parameters:
    ///   - byteCount: With all headers; at least 1, at most 2 GiB.
    ///   - payload: Comes back with the delivery; the network makes nothing of it.
    ///   - isReportingProgress: Whether each frame of a long message is delivered as ``Delivery/Outcome/progress``.
    ///   - flow: An open one.
    /// - Returns: What to cancel it by.
    @discardableResult
    public mutating func send(
        _ byteCount: Int, payload: UInt64, priority: Priority, isReportingProgress: Bool = false, on flow: FlowID
    ) -> MessageID {
        precondition((1...Int(Int32.max)).contains(byteCount), "a message has 1 byte to 2 GiB")
        let index = flow.rawValue
        precondition(!flows[Int(index)].flags.contains(.closed), "the connection is closed")
        let frame = takeFrame(
            Frame(
                payload: payload, flow: index, byteCount: Int32(byteCount),
                flags: isReportingProgress ? [.last, .reported] : .last))
        let id = MessageID(index: frame, generation: frames[Int(frame)].generation)
        let pipe = flows[Int(index)].uplink
        if byteCount <= quantum, isIdle(pipe), !flows[Int(index)].flags.contains(.hasBacklog), isEligible(index) {
            begin(frame, on: pipe)
            return id
        }
        enqueue(frame, of: index, priority)
        let stage = flows[Int(index)].firstStage
        if !stages[Int(stage)].isListed, flows[Int(index)].flags.isDisjoint(with: [.waitsForWindow, .waitsForPace]) {
            join(stage)
        }
        kick(pipe)
        return id
    }

    /// Takes back what has not begun of a message; what has begun goes on. Nothing more is delivered for a message that was
    /// taken back whole or in part, except progress.
    ///
    /// - Returns: The bytes taken back; 0 when all had begun.
    @discardableResult
    public mutating func cancel(_ message: MessageID) -> Int {
        let index = Int(message.index)
        guard index < frames.count, frames[index].generation == message.generation,
            frames[index].flags.contains(.waiting), !frames[index].flags.contains(.cancelled)
        else { return 0 }
        // It stays in its queue until its turn comes.
        frames[index].flags.insert(.cancelled)
        hasCancelled = true
        let byteCount = Int(frames[index].byteCount)
        stages[Int(flows[Int(frames[index].flow)].firstStage)].waiting -= byteCount
        return byteCount
    }

    /// Bytes that wait at the source of a flow, not begun.
    public func waitingByteCount(on flow: FlowID) -> Int {
        let index = Int(flow.rawValue)
        return flows[index].flags.contains(.closed) ? 0 : stages[Int(flows[index].firstStage)].waiting
    }

    /// What waits at the source of a flow, and what has begun and not arrived; `mutating` only so that a network in a class
    /// is not copied for it.
    public mutating func byteCounts(on flow: FlowID) -> (waiting: Int, inFlight: Int) {
        let index = Int(flow.rawValue)
        let isClosed = flows[index].flags.contains(.closed)
        return (isClosed ? 0 : stages[Int(flows[index].firstStage)].waiting, Int(flows[index].inFlight))
    }

    /// Has the owner told, once, with a delivery of the outcome ``Delivery/Outcome/room``, when no more than a frame's bytes
    /// (``NetworkConfiguration/frameByteCount``) wait at the source of a flow; at once if that is so already.
    public mutating func reportRoom(on flow: FlowID) {
        let index = Int(flow.rawValue)
        guard !flows[index].flags.contains(.closed) else { return }
        if waitingByteCount(on: flow) <= Int(quantum) {
            tellRoom(flow.rawValue)
        } else {
            flows[index].flags.insert(.reportsRoom)
        }
    }

    mutating func tellRoom(_ index: Int32) {
        flows[Int(index)].flags.remove(.reportsRoom)
        let flow = flows[Int(index)]
        deliveries.append(
            Delivery(
                payload: 0, time: now, flow: FlowID(rawValue: index), source: NodeID(rawValue: flow.source),
                target: NodeID(rawValue: flow.target), byteCount: 0, outcome: .room))
    }

    /// Bytes of a flow that have begun and not arrived.
    public func inFlightByteCount(on flow: FlowID) -> Int { Int(flows[Int(flow.rawValue)].inFlight) }

    // MARK: Frames

    mutating func takeFrame(_ frame: Frame) -> Int32 {
        let index = freeFrame
        guard index >= 0 else {
            precondition(frames.count < 1 << 30, "too many messages")
            frames.append(frame)
            return Int32(frames.count - 1)
        }
        freeFrame = frames[Int(index)].next
        let generation = frames[Int(index)].generation
        frames[Int(index)] = frame
        frames[Int(index)].generation = generation
        return index
    }

    mutating func freeFrame(_ index: Int32) {
        frames[Int(index)].generation &+= 1
        frames[Int(index)].flags = []
        frames[Int(index)].next = freeFrame
        freeFrame = index
    }

    private mutating func enqueue(_ frame: Int32, of flow: Int32, _ priority: Priority) {
        frames[Int(frame)].flags.insert(.waiting)
        flows[Int(flow)].flags.insert(.hasBacklog)
        let stage = Int(flows[Int(flow)].firstStage)
        stages[stage].waiting += Int(frames[Int(frame)].byteCount)
        switch priority {
        case .control:
            if stages[stage].controlHead < 0 {
                stages[stage].controlHead = frame
            } else {
                frames[Int(stages[stage].controlTail)].next = frame
            }
            stages[stage].controlTail = frame
        case .data:
            if stages[stage].head < 0 {
                stages[stage].head = frame
            } else {
                frames[Int(stages[stage].tail)].next = frame
            }
            stages[stage].tail = frame
        }
    }

    /// Drops cancelled messages from the front of a flow's queues.
    ///
    /// - Returns: Whether anything waits behind them.
    mutating func hasWaiting(_ index: Int32) -> Bool {
        guard flows[Int(index)].flags.contains(.hasBacklog) else { return false }
        let stage = Int(flows[Int(index)].firstStage)
        // The frames themselves are not looked at where none was ever taken back.
        if !hasCancelled {
            if stages[stage].controlHead >= 0 || stages[stage].head >= 0 { return true }
            flows[Int(index)].flags.remove(.hasBacklog)
            return false
        }
        var frame = stages[stage].controlHead
        while frame >= 0, frames[Int(frame)].flags.contains(.cancelled) {
            stages[stage].controlHead = frames[Int(frame)].next
            freeFrame(frame)
            frame = stages[stage].controlHead
        }
        if frame >= 0 { return true }
        frame = stages[stage].head
        while frame >= 0, frames[Int(frame)].flags.contains(.cancelled) {
            stages[stage].head = frames[Int(frame)].next
            freeFrame(frame)
            frame = stages[stage].head
        }
        if frame >= 0 { return true }
        flows[Int(index)].flags.remove(.hasBacklog)
        return false
    }

    /// Takes the next frame of a flow that has something waiting, cut from its message if that is long.
    mutating func takeWaiting(_ index: Int32) -> Int32 {
        let stage = Int(flows[Int(index)].firstStage)
        let isControl = stages[stage].controlHead >= 0
        let head = isControl ? stages[stage].controlHead : stages[stage].head
        let byteCount = frames[Int(head)].byteCount
        if byteCount > quantum {
            frames[Int(head)].byteCount -= quantum
            stages[stage].waiting -= Int(quantum)
            let flags = frames[Int(head)].flags.intersection(.reported)
            return takeFrame(
                Frame(payload: frames[Int(head)].payload, flow: index, byteCount: quantum, flags: flags))
        }
        stages[stage].waiting -= Int(byteCount)
        if isControl {
            stages[stage].controlHead = frames[Int(head)].next
        } else {
            stages[stage].head = frames[Int(head)].next
        }
        frames[Int(head)].flags.remove(.waiting)
        return head
    }

    // MARK: News

    /// The end of a frame's way.
    mutating func deliver(_ index: Int32) {
        let frame = frames[Int(index)]
        if flows[Int(frame.flow)].flags.contains(.targetIsGone) {
            drop(index)
            drained(index)
            return
        }
        if !frame.flags.isDisjoint(with: [.last, .reported]) {
            let flow = flows[Int(frame.flow)]
            deliveries.append(
                Delivery(
                    payload: frame.payload, time: now, flow: FlowID(rawValue: frame.flow),
                    source: NodeID(rawValue: flow.source), target: NodeID(rawValue: flow.target),
                    byteCount: frame.byteCount, outcome: frame.flags.contains(.last) ? .complete : .progress))
        }
        if configuration.acknowledgementShare > 0 { acknowledge(frame.byteCount, by: flows[Int(frame.flow)].target) }
        adapt(frame.flow, byteCount: frame.byteCount, wait: clock - frame.arrival)
        drained(index)
    }

    /// Tells the owner of a message that is lost. Of one in several frames, that is the last one's part.
    mutating func drop(_ index: Int32) {
        let frame = frames[Int(index)]
        guard frame.flags.contains(.last), !frame.flags.contains(.cancelled) else { return }
        let flow = flows[Int(frame.flow)]
        deliveries.append(
            Delivery(
                payload: frame.payload, time: now, flow: FlowID(rawValue: frame.flow),
                source: NodeID(rawValue: flow.source), target: NodeID(rawValue: flow.target),
                byteCount: frame.byteCount, outcome: .dropped))
    }

    /// Takes a frame out of its flow's window, and frees it.
    mutating func drained(_ index: Int32) {
        let frame = frames[Int(index)]
        freeFrame(index)
        flows[Int(frame.flow)].inFlight -= frame.byteCount
        let flow = flows[Int(frame.flow)]
        if flow.flags.contains(.closed) {
            releaseIfDrained(frame.flow)
        } else if flow.flags.contains(.waitsForWindow), Float(flow.inFlight) < flow.window {
            flows[Int(frame.flow)].flags.remove(.waitsForWindow)
            rejoin(frame.flow)
        }
    }
}
