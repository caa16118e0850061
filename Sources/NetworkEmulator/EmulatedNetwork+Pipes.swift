import CoreModel

/// How frames pass: the round robin at each pipe, and the windows.
extension EmulatedNetwork {
    // MARK: Uplinks

    /// Whether an uplink could begin a frame at once, before nobody else.
    func isIdle(_ pipe: Int32) -> Bool {
        let pipe = pipes[Int(pipe)]
        return pipe.busyUntil <= clock && !pipe.isScheduled && pipe.isRoundEmpty
            && pipe.nanosecondsPerByte.isFinite
    }

    /// Whether a flow's window and rate allow it a frame.
    func isEligible(_ index: Int32) -> Bool {
        let flow = flows[Int(index)]
        return (Float(flow.inFlight) < flow.window || flow.inFlight == 0)
            && (!flow.flags.contains(.isPaced) || details[Int(index)].eligible <= clock)
    }

    /// Puts a frame on an uplink that is free.
    mutating func begin(_ index: Int32, on pipe: Int32) {
        let byteCount = frames[Int(index)].byteCount
        let flow = Int(frames[Int(index)].flow)
        let owed = Int32(rounds[Int(pipe)].owed)
        rounds[Int(pipe)].owed = 0
        let duration = pipes[Int(pipe)].duration(byteCount + owed)
        pipes[Int(pipe)].busyUntil = clock + duration
        pipes[Int(pipe)].current = index
        pipes[Int(pipe)].carried += UInt64(byteCount)
        flows[flow].inFlight += byteCount
        if flows[flow].flags.contains(.isPaced) {
            details[flow].eligible = clock + Int64(Float(byteCount) * details[flow].pace)
        }
        let arrival = clock + duration + Int64(flows[flow].delay)
        frames[Int(index)].span = Float(duration)
        frames[Int(index)].arrival = arrival
        frames[Int(index)].flags.insert(.onWire)
        events.schedule(Event.arrival(frame: index).code, at: MonotonicInstant(nanoseconds: arrival))
    }

    /// Lets a node acknowledge what came in. Where its uplink is idle that takes nothing from anybody.
    mutating func acknowledge(_ byteCount: Int32, by node: Int32) {
        // Its number is twice the node's, whose own memory is far away.
        let pipe = Int(node) << 1
        guard pipes[pipe].busyUntil > clock else { return }
        rounds[pipe].owed += Float(byteCount) * configuration.acknowledgementShare
    }

    /// Lets an uplink that is free send what its round allows.
    mutating func serveUplink(_ pipe: Int32) {
        while pipes[Int(pipe)].busyUntil <= clock, pipes[Int(pipe)].nanosecondsPerByte.isFinite {
            let stage = nextStage(pipe)
            guard stage >= 0 else { return }
            let frame = takeWaiting(stages[Int(stage)].flow)
            stages[Int(stage)].deficit -= frames[Int(frame)].byteCount
            begin(frame, on: pipe)
            let flow = stages[Int(stage)].flow
            if flows[Int(flow)].flags.contains(.reportsRoom), stages[Int(stage)].waiting <= Int(quantum) {
                tellRoom(flow)
            }
        }
        if nextStage(pipe) >= 0 { scheduleFree(pipe) }
    }

    /// Makes an uplink look at its round as soon as it can.
    mutating func kick(_ pipe: Int32) {
        if pipes[Int(pipe)].busyUntil <= clock {
            if !pipes[Int(pipe)].isScheduled { serveUplink(pipe) }
        } else if !pipes[Int(pipe)].isScheduled {
            scheduleFree(pipe)
        }
    }

    private mutating func scheduleFree(_ pipe: Int32) {
        let time = pipes[Int(pipe)].busyUntil
        // Whatever stands still is looked at again when its rate changes.
        guard time != .max, time > clock else { return }
        pipes[Int(pipe)].isScheduled = true
        events.schedule(Event.free(pipe: pipe).code, at: MonotonicInstant(nanoseconds: time))
    }

    // MARK: Other pipes

    /// Brings a frame to its next hop, or to its end.
    mutating func arrive(_ index: Int32) {
        let flow = frames[Int(index)].flow
        let hopCount = flows[Int(flow)].hopCount
        while frames[Int(index)].hop < hopCount {
            let hop = frames[Int(index)].hop
            if hop == hopCount - 1 {
                if flows[Int(flow)].flags.contains(.targetIsGone) { break }
                guard pass(index, flows[Int(flow)].downlink) else { return }
            } else {
                let stage = flows[Int(flow)].firstStage + Int32(hop)
                guard pass(index, stages[Int(stage)].pipe) else { return }
            }
            frames[Int(index)].hop += 1
        }
        deliver(index)
    }

    /// Lets a frame through a pipe while it comes in, if the pipe is idle and fast enough; else it stays there for a while.
    private mutating func pass(_ index: Int32, _ pipe: Int32) -> Bool {
        let number = Int(pipe)
        let perByte = pipes[number].nanosecondsPerByte
        let byteCount = frames[Int(index)].byteCount
        if perByte == 0 {
            pipes[number].carried += UInt64(byteCount)
            return true
        }
        guard pipes[number].current < 0, perByte.isFinite, pipes[number].isRoundEmpty else {
            let stage = flows[Int(frames[Int(index)].flow)].firstStage + Int32(frames[Int(index)].hop)
            if stages[Int(stage)].head < 0 {
                stages[Int(stage)].head = index
            } else {
                frames[Int(stages[Int(stage)].tail)].next = index
            }
            stages[Int(stage)].tail = index
            frames[Int(index)].next = -1
            if !stages[Int(stage)].isListed { join(stage) }
            return false
        }
        pipes[number].carried += UInt64(byteCount)
        let duration = pipes[number].duration(byteCount)
        let span = Int64(frames[Int(index)].span)
        let finish = max(pipes[number].busyUntil, clock - span) + duration
        slowed(index, duration)
        guard finish > clock else {
            pipes[number].busyUntil = finish
            return true
        }
        pipes[number].current = index
        pipes[number].busyUntil = finish
        scheduleFree(pipe)
        return false
    }

    /// Notes that a pipe takes so long for a frame, which delays it, without any waiting, if no pipe before took longer.
    private mutating func slowed(_ index: Int32, _ duration: Int64) {
        let span = frames[Int(index)].span
        guard Float(duration) > span else { return }
        frames[Int(index)].arrival += duration - Int64(span)
        frames[Int(index)].span = Float(duration)
    }

    /// Passes on the frame that a pipe is through with, and begins with the next.
    mutating func finishCurrent(_ pipe: Int32) {
        let index = pipes[Int(pipe)].current
        pipes[Int(pipe)].current = -1
        servePipe(pipe)
        guard index >= 0 else { return }
        frames[Int(index)].hop += 1
        arrive(index)
    }

    /// Lets a pipe other than an uplink begin with the next frame that waits before it.
    mutating func servePipe(_ pipe: Int32) {
        guard pipes[Int(pipe)].current < 0, pipes[Int(pipe)].nanosecondsPerByte.isFinite else { return }
        let stage = nextStage(pipe)
        guard stage >= 0 else { return }
        let index = stages[Int(stage)].head
        stages[Int(stage)].head = frames[Int(index)].next
        let byteCount = frames[Int(index)].byteCount
        stages[Int(stage)].deficit -= byteCount
        let duration = pipes[Int(pipe)].duration(byteCount)
        slowed(index, duration)
        pipes[Int(pipe)].carried += UInt64(byteCount)
        pipes[Int(pipe)].current = index
        pipes[Int(pipe)].busyUntil = clock + max(duration, 1)
        scheduleFree(pipe)
    }

    // MARK: Round robin

    /// The stage whose turn it is; -1 when there is none.
    ///
    /// Each stage may send one quantum per round. Who still has some of it and gets something to send goes before those
    /// that wait for their turn, as a small packet does under fair queueing by packets; who has none gets its next quantum
    /// in the next round, at the end of the queue.
    mutating func nextStage(_ pipe: Int32) -> Int32 {
        while true {
            let isNew = rounds[Int(pipe)].newHead >= 0
            let stage = isNew ? rounds[Int(pipe)].newHead : rounds[Int(pipe)].oldHead
            guard stage >= 0 else {
                pipes[Int(pipe)].isRoundEmpty = true
                return -1
            }
            let isFirst = stages[Int(stage)].isFirst
            let flow = stages[Int(stage)].flow
            let isWaiting = isFirst ? hasWaiting(flow) : stages[Int(stage)].head >= 0
            if !isWaiting {
                removeHead(pipe, isNew)
                unlisted(stage)
            } else if isFirst, !isEligible(flow) {
                removeHead(pipe, isNew)
                hold(flow)
                unlisted(stage)
            } else if stages[Int(stage)].deficit <= 0 {
                removeHead(pipe, isNew)
                appendOld(pipe, stage)
            } else {
                if !isNew { rounds[Int(pipe)].round = max(rounds[Int(pipe)].round, stages[Int(stage)].round) }
                return stage
            }
        }
    }

    /// Keeps a flow out of its uplink's round until it may send again.
    private mutating func hold(_ index: Int32) {
        let flow = flows[Int(index)]
        if flow.inFlight > 0, Float(flow.inFlight) >= flow.window {
            flows[Int(index)].flags.insert(.waitsForWindow)
        } else {
            flows[Int(index)].flags.insert(.waitsForPace)
            events.schedule(
                Event.eligible(flow: index).code,
                at: MonotonicInstant(nanoseconds: details[Int(index)].eligible))
        }
    }

    /// Lets a flow that was kept out take part in its uplink's round again.
    mutating func rejoin(_ index: Int32) {
        let stage = flows[Int(index)].firstStage
        guard !flows[Int(index)].flags.contains(.closed), !stages[Int(stage)].isListed else { return }
        join(stage)
        kick(stages[Int(stage)].pipe)
    }

    /// Puts a stage that has something to send into its pipe's round.
    mutating func join(_ stage: Int32) {
        let pipe = Int(stages[Int(stage)].pipe)
        stages[Int(stage)].isListed = true
        pipes[pipe].isRoundEmpty = false
        flows[Int(stages[Int(stage)].flow)].listed += 1
        if stages[Int(stage)].round < rounds[pipe].round {
            stages[Int(stage)].round = rounds[pipe].round
            stages[Int(stage)].deficit = quantum
        }
        guard stages[Int(stage)].deficit > 0 else {
            appendOld(Int32(pipe), stage)
            return
        }
        stages[Int(stage)].next = -1
        if rounds[pipe].newHead < 0 {
            rounds[pipe].newHead = stage
        } else {
            stages[Int(rounds[pipe].newTail)].next = stage
        }
        rounds[pipe].newTail = stage
    }

    /// Puts a stage without any quantum left at the end of the queue, with one for the next round.
    private mutating func appendOld(_ pipe: Int32, _ stage: Int32) {
        stages[Int(stage)].deficit += quantum
        stages[Int(stage)].round = rounds[Int(pipe)].round + 1
        stages[Int(stage)].next = -1
        if rounds[Int(pipe)].oldHead < 0 {
            rounds[Int(pipe)].oldHead = stage
        } else {
            stages[Int(rounds[Int(pipe)].oldTail)].next = stage
        }
        rounds[Int(pipe)].oldTail = stage
    }

    private mutating func removeHead(_ pipe: Int32, _ isNew: Bool) {
        if isNew {
            rounds[Int(pipe)].newHead = stages[Int(rounds[Int(pipe)].newHead)].next
        } else {
            rounds[Int(pipe)].oldHead = stages[Int(rounds[Int(pipe)].oldHead)].next
        }
    }

    /// Notes that a stage left its pipe's round.
    mutating func unlisted(_ stage: Int32) {
        let flow = stages[Int(stage)].flow
        stages[Int(stage)].isListed = false
        flows[Int(flow)].listed -= 1
        if flows[Int(flow)].flags.contains(.closed) { releaseIfDrained(flow) }
    }

    // MARK: Windows

    /// Adapts a flow's window to an arrival that waited so many nanoseconds in queues behind the uplink.
    ///
    /// In slow start the window grows by √2 − 1 of what arrives, so that it doubles in two one-way delays, that is, per
    /// round trip; then w ← w + γ (w × delay / (delay + wait) + α − w) per window, with γ = 1/2 (FAST TCP).
    mutating func adapt(_ index: Int32, byteCount: Int32, wait: Int64) {
        let flow = flows[Int(index)]
        let isLimited = 2 * Float(flow.inFlight) > flow.window
        var window = flow.window
        if flow.flags.contains(.slowStart) {
            if wait > Int64(min(max(flow.delay / 4, 4_000_000), 16_000_000)) {
                flows[Int(index)].flags.remove(.slowStart)
            } else if isLimited {
                window += 0.4142 * Float(byteCount)
            }
        } else {
            let waited = Float(wait)
            let growth = standingQueue / window - (wait > 0 ? waited / (Float(flow.delay) + waited) : 0)
            if growth < 0 || isLimited { window += 0.5 * Float(byteCount) * growth }
        }
        flows[Int(index)].window = min(max(window, Float(quantum)), Float(configuration.maximumWindowByteCount))
    }

    // MARK: Rates

    /// Changes the rate of a pipe, also for the rest of the frame in the middle of it.
    mutating func setRate(_ number: Int32, bitsPerSecond: Double) {
        var pipe = pipes[Int(number)]
        let perByte = Pipe.nanosecondsPerByte(bitsPerSecond)
        guard perByte != pipe.nanosecondsPerByte else { return }
        let isMoving = pipe.busyUntil > clock && (pipe.isUplink || pipe.current >= 0)
        if isMoving {
            let before = pipe.busyUntil
            let left =
                before == .max
                ? Double(rounds[Int(number)].left) : Double(before - clock) / max(pipe.nanosecondsPerByte, 1e-9)
            if perByte.isFinite {
                pipe.busyUntil = clock + Int64((left * perByte).rounded(.up))
            } else {
                rounds[Int(number)].left = Float(left)
                pipe.busyUntil = .max
            }
            if pipe.isUplink {
                let frame = Int(pipe.current)
                if pipe.busyUntil == .max {
                    frames[frame].arrival = .max
                } else {
                    let arrival = pipe.busyUntil + Int64(flows[Int(frames[frame].flow)].delay)
                    frames[frame].arrival = arrival
                    events.schedule(
                        Event.arrival(frame: pipe.current).code, at: MonotonicInstant(nanoseconds: arrival))
                    if before != .max { frames[frame].span += Float(pipe.busyUntil - before) }
                }
            }
        }
        pipe.nanosecondsPerByte = perByte
        pipes[Int(number)] = pipe
        if pipe.isUplink {
            // Frames wait, or the end of the one in the middle has moved.
            pipes[Int(number)].isScheduled = false
            kick(number)
        } else if isMoving {
            pipes[Int(number)].isScheduled = false
            scheduleFree(number)
        } else {
            servePipe(number)
        }
    }
}
