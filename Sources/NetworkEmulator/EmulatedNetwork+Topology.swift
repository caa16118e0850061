import CoreModel

extension EmulatedNetwork {
    // MARK: Nodes

    /// Adds a node.
    public mutating func addNode(_ configuration: NodeConfiguration) -> NodeID {
        let uplink = Pipe(bitsPerSecond: configuration.uplinkBitsPerSecond, isUplink: true)
        let downlink = Pipe(bitsPerSecond: configuration.downlinkBitsPerSecond, isUplink: false)
        if let index = freeNodes.popLast() {
            let pipe = nodes[Int(index)].pipe
            pipes[Int(pipe)] = uplink
            pipes[Int(pipe) + 1] = downlink
            rounds[Int(pipe)] = Round()
            rounds[Int(pipe) + 1] = Round()
            nodes[Int(index)] = Node(configuration: configuration, pipe: pipe)
            return NodeID(rawValue: index)
        }
        return NodeID(rawValue: addPipes(uplink, downlink, configuration))
    }

    /// Takes a node away, with its connections. What it had sent completely still arrives; all else that was for it or from
    /// it is dropped, and delivered as such.
    public mutating func removeNode(_ node: NodeID) {
        let index = Int(node.rawValue)
        precondition(nodes[index].isPresent, "the node was removed before")
        let uplink = Int(nodes[index].pipe)
        if pipes[uplink].busyUntil > clock {
            let frame = pipes[uplink].current
            drop(frame)
            drained(frame)
        }
        var flow = nodes[index].firstFlow
        nodes[index].firstFlow = -1
        while flow >= 0 {
            let next = details[Int(flow)].nextOfSource
            flows[Int(flow)].flags.insert(.sourceIsGone)
            flows[Int(flow ^ 1)].flags.insert(.targetIsGone)
            closePair(flow)
            flow = next
        }
        // Frames that wait before its downlink.
        let downlink = uplink + 1
        if pipes[downlink].current >= 0 {
            let frame = pipes[downlink].current
            drop(frame)
            drained(frame)
        }
        for pipe in [uplink, downlink] {
            for head in [rounds[pipe].newHead, rounds[pipe].oldHead] {
                var stage = head
                while stage >= 0 {
                    let next = stages[Int(stage)].next
                    var frame = stages[Int(stage)].head
                    stages[Int(stage)].head = -1
                    while frame >= 0 {
                        let nextFrame = frames[Int(frame)].next
                        drop(frame)
                        drained(frame)
                        frame = nextFrame
                    }
                    unlisted(stage)
                    stage = next
                }
            }
            let isUplink = pipes[pipe].isUplink
            pipes[pipe] = Pipe(bitsPerSecond: 0, isUplink: isUplink)
            rounds[pipe] = Round()
        }
        nodes[index].isPresent = false
        freeNodes.append(node.rawValue)
    }

    /// Adds an access link or a site's network, for nodes to be added behind it.
    public mutating func addSharedLink(_ configuration: SharedLinkConfiguration) -> SharedLinkID {
        let depth = configuration.parent.map { sharedLinks[Int($0.rawValue)].depth + 1 } ?? 1
        precondition(depth <= SharedLinkConfiguration.maximumDepth, "too many shared links behind each other")
        sharedLinks.append(SharedLink(configuration: configuration, pipe: Int32(pipes.count), depth: depth))
        let up = Pipe(bitsPerSecond: configuration.uplinkBitsPerSecond, isUplink: false)
        let down = Pipe(bitsPerSecond: configuration.downlinkBitsPerSecond, isUplink: false)
        addPipes(up, down)
        if case .site(let bitsPerSecond, _) = configuration.kind {
            let inside = Pipe(bitsPerSecond: bitsPerSecond, isUplink: false)
            addPipes(inside, inside)
        }
        return SharedLinkID(rawValue: Int32(sharedLinks.count - 1))
    }

    /// Gives a node's links other rates from now on, also for what is in the middle of them.
    public mutating func setRates(of node: NodeID, uplinkBitsPerSecond: Double, downlinkBitsPerSecond: Double) {
        nodes[Int(node.rawValue)].configuration.uplinkBitsPerSecond = uplinkBitsPerSecond
        nodes[Int(node.rawValue)].configuration.downlinkBitsPerSecond = downlinkBitsPerSecond
        let pipe = nodes[Int(node.rawValue)].pipe
        setRate(pipe, bitsPerSecond: uplinkBitsPerSecond)
        setRate(pipe + 1, bitsPerSecond: downlinkBitsPerSecond)
    }

    /// Gives a shared link other rates from now on, also for what is in the middle of it.
    public mutating func setRates(
        of link: SharedLinkID, uplinkBitsPerSecond: Double, downlinkBitsPerSecond: Double
    ) {
        sharedLinks[Int(link.rawValue)].configuration.uplinkBitsPerSecond = uplinkBitsPerSecond
        sharedLinks[Int(link.rawValue)].configuration.downlinkBitsPerSecond = downlinkBitsPerSecond
        let pipe = sharedLinks[Int(link.rawValue)].pipe
        setRate(pipe, bitsPerSecond: uplinkBitsPerSecond)
        setRate(pipe + 1, bitsPerSecond: downlinkBitsPerSecond)
    }

    /// A node's configuration, with the rates it has now.
    public func configuration(of node: NodeID) -> NodeConfiguration { nodes[Int(node.rawValue)].configuration }

    /// A shared link's configuration, with the rates it has now.
    public func configuration(of link: SharedLinkID) -> SharedLinkConfiguration {
        sharedLinks[Int(link.rawValue)].configuration
    }

    /// Bytes that a node has begun to send, and bytes that have begun to come in over its downlink, since it was added.
    public func byteCounts(of node: NodeID) -> (sent: UInt64, received: UInt64) {
        let pipe = Int(nodes[Int(node.rawValue)].pipe)
        return (pipes[pipe].carried, pipes[pipe + 1].carried)
    }

    /// Bytes that have begun to pass over a shared link: to the backbone, from it, and inside the site.
    public func byteCounts(of link: SharedLinkID) -> (up: UInt64, down: UInt64, inside: UInt64) {
        let shared = sharedLinks[Int(link.rawValue)]
        let pipe = Int(shared.pipe)
        if case .access = shared.configuration.kind { return (pipes[pipe].carried, pipes[pipe + 1].carried, 0) }
        return (pipes[pipe].carried, pipes[pipe + 1].carried, pipes[pipe + 2].carried)
    }

    // MARK: Connections

    /// Tries to connect two nodes through what translates their addresses: draws whether it works from the table of
    /// ``NetworkConfiguration/reachability``. Nodes of one site always reach each other.
    ///
    /// - Returns: The direction from `node` to `other`; `nil` if they can't connect. Whoever wants a pair that can't to
    ///   stay so remembers it: another call draws again.
    public mutating func connect(
        _ node: NodeID, to other: NodeID, using generator: inout some RandomNumberGenerator
    ) -> FlowID? {
        let (first, second) = (nodes[Int(node.rawValue)].configuration, nodes[Int(other.rawValue)].configuration)
        if commonSite(first.sharedLink, second.sharedLink) == nil {
            let probability = configuration.reachability.probability(from: first.natType, to: second.natType)
            // Always one draw, so that what follows doesn't depend on the table.
            guard Double.random(in: 0..<1, using: &generator) < probability else { return nil }
        }
        return connect(node, to: other)
    }

    /// Connects two nodes, whatever translates their addresses.
    ///
    /// - Returns: The direction from `node` to `other`.
    public mutating func connect(_ node: NodeID, to other: NodeID) -> FlowID {
        precondition(node != other, "a node is not connected to itself")
        precondition(
            nodes[Int(node.rawValue)].isPresent && nodes[Int(other.rawValue)].isPresent, "a node has been removed")
        let first: Int32
        let (there, back) = (makeFlow(from: node, to: other), makeFlow(from: other, to: node))
        if let free = freePairs.popLast() {
            first = free
            (flows[Int(first)], details[Int(first)]) = there
            (flows[Int(first) + 1], details[Int(first) + 1]) = back
        } else {
            first = Int32(flows.count)
            precondition(first < 1 << 30, "too many connections")
            flows.append(there.0)
            flows.append(back.0)
            details.append(there.1)
            details.append(back.1)
        }
        for index in [first, first + 1] {
            addStages(index)
            let source = Int(flows[Int(index)].source)
            let next = nodes[source].firstFlow
            details[Int(index)].nextOfSource = next
            if next >= 0 { details[Int(next)].previousOfSource = index }
            nodes[source].firstFlow = index
        }
        return FlowID(rawValue: first)
    }

    /// Closes both directions of a connection. What waits to be sent is dropped, and delivered as such; what is under way
    /// still arrives. The number may be given to another connection afterwards.
    public mutating func close(_ flow: FlowID) { closePair(flow.rawValue) }

    /// The directions from `node`, of all its connections; the latest first.
    public func flows(from node: NodeID) -> [FlowID] {
        var result: [FlowID] = []
        var flow = nodes[Int(node.rawValue)].firstFlow
        while flow >= 0 {
            if !flows[Int(flow)].flags.contains(.closed) { result.append(FlowID(rawValue: flow)) }
            flow = details[Int(flow)].nextOfSource
        }
        return result
    }

    /// The two ends of a direction.
    public func ends(of flow: FlowID) -> (source: NodeID, target: NodeID) {
        let flow = flows[Int(flow.rawValue)]
        return (NodeID(rawValue: flow.source), NodeID(rawValue: flow.target))
    }

    /// The one-way delay from one node to another.
    public func delay(from node: NodeID, to other: NodeID) -> Duration {
        let (first, second) = (nodes[Int(node.rawValue)].configuration, nodes[Int(other.rawValue)].configuration)
        if let site = commonSite(first.sharedLink, second.sharedLink),
            case .site(_, let delay) = sharedLinks[Int(site.rawValue)].configuration.kind
        {
            return delay
        }
        let regions = configuration.regionDelays
        let between = regions.isEmpty ? Duration.zero : regions[first.region][second.region]
        return first.accessDelay + second.accessDelay + between
    }

    /// Adds two pipes, and the node that has them; none is present there if they belong to a shared link.
    ///
    /// - Returns: The node's number: half the number of its first pipe.
    @discardableResult
    private mutating func addPipes(_ first: Pipe, _ second: Pipe, _ configuration: NodeConfiguration? = nil) -> Int32 {
        let pipe = Int32(pipes.count)
        nodes.append(
            Node(
                configuration: configuration
                    ?? NodeConfiguration(uplinkBitsPerSecond: 0, downlinkBitsPerSecond: 0),
                pipe: pipe, isPresent: configuration != nil))
        pipes.append(first)
        pipes.append(second)
        rounds.append(Round())
        rounds.append(Round())
        return pipe >> 1
    }

    private func makeFlow(from source: NodeID, to target: NodeID) -> (Flow, FlowDetails) {
        // 32 bits of nanoseconds are four seconds.
        let delay = UInt32(clamping: delay(from: source, to: target).nanosecondsClamped)
        let loss =
            1 - (1 - nodes[Int(source.rawValue)].configuration.loss)
            * (1 - nodes[Int(target.rawValue)].configuration.loss)
        let pace = pace(loss: loss, delay: delay)
        let flow = Flow(
            uplink: nodes[Int(source.rawValue)].pipe,
            downlink: nodes[Int(target.rawValue)].pipe + 1, window: Float(configuration.initialWindowByteCount),
            delay: delay, flags: pace > 0 ? [.slowStart, .isPaced] : .slowStart, hopCount: 0)
        return (flow, FlowDetails(pace: pace))
    }

    /// Nanoseconds per byte at the rate that TCP reaches with random loss: packet / round trip × √(3/2) / √loss (Mathis,
    /// Semke, Mahdavi, Ott, CCR 1997, with an acknowledgement per packet).
    private func pace(loss: Double, delay: UInt32) -> Float {
        guard loss > 0 else { return 0 }
        let roundTrip = 2 * Double(delay)
        return Float(roundTrip * loss.squareRoot() / (Double(configuration.packetByteCount) * 1.5.squareRoot()))
    }

    /// The shared links of a node from the inside out.
    private func chain(_ link: SharedLinkID?) -> [SharedLinkID] {
        var chain: [SharedLinkID] = []
        var link = link
        while let current = link {
            chain.append(current)
            link = sharedLinks[Int(current.rawValue)].configuration.parent
        }
        return chain
    }

    /// The innermost site that holds both.
    private func commonSite(_ link: SharedLinkID?, _ other: SharedLinkID?) -> SharedLinkID? {
        guard link != nil, other != nil else { return nil }
        let others = chain(other)
        return chain(link).first { candidate in
            guard case .site = sharedLinks[Int(candidate.rawValue)].configuration.kind else { return false }
            return others.contains(candidate)
        }
    }

    /// The pipes from one node to another.
    func path(from source: NodeID, to target: NodeID) -> [Int32] {
        let (first, second) = (nodes[Int(source.rawValue)], nodes[Int(target.rawValue)])
        var path = [first.pipe]
        if first.configuration.sharedLink != nil || second.configuration.sharedLink != nil {
            var up = chain(first.configuration.sharedLink)
            var down = chain(second.configuration.sharedLink)
            let site = commonSite(first.configuration.sharedLink, second.configuration.sharedLink)
            if let site {
                up = Array(up.prefix { $0 != site })
                down = Array(down.prefix { $0 != site })
            }
            path += up.map { sharedLinks[Int($0.rawValue)].pipe }
            if let site { path.append(sharedLinks[Int(site.rawValue)].pipe + 2) }
            path += down.reversed().map { sharedLinks[Int($0.rawValue)].pipe + 1 }
        }
        path.append(second.pipe + 1)
        return path
    }

    private mutating func addStages(_ index: Int32) {
        let flow = flows[Int(index)]
        let path = path(from: NodeID(rawValue: flow.source), to: NodeID(rawValue: flow.target))
        let first: Int32
        if let free = freeStages[path.count].popLast() {
            first = free
        } else {
            first = Int32(stages.count)
            stages.append(
                contentsOf: repeatElement(Stage(flow: index, pipe: -1, isFirst: false), count: path.count))
        }
        for (hop, pipe) in path.enumerated() {
            stages[Int(first) + hop] = Stage(flow: index, pipe: pipe, isFirst: hop == 0)
        }
        flows[Int(index)].firstStage = first
        flows[Int(index)].hopCount = UInt8(path.count)
    }

    mutating func closePair(_ flow: Int32) {
        guard !flows[Int(flow)].flags.contains(.closed) else { return }
        for index in [flow, flow ^ 1] {
            let stage = Int(flows[Int(index)].firstStage)
            var frame = stages[stage].controlHead
            var rest = stages[stage].head
            stages[stage].controlHead = -1
            stages[stage].head = -1
            stages[stage].waiting = 0
            while frame >= 0 || rest >= 0 {
                if frame < 0 { swap(&frame, &rest) }
                let next = frames[Int(frame)].next
                drop(frame)
                freeFrame(frame)
                frame = next
            }
            flows[Int(index)].flags.insert(.closed)
        }
        releaseIfDrained(flow)
        releaseIfDrained(flow ^ 1)
    }

    /// Gives a closed flow back once nothing of it is under way or in a round, and its pair once both are.
    mutating func releaseIfDrained(_ index: Int32) {
        let flow = flows[Int(index)]
        guard flow.flags.contains(.closed), !flow.flags.contains(.released), flow.inFlight == 0, flow.listed == 0
        else { return }
        flows[Int(index)].flags.insert(.released)
        freeStages[Int(flow.hopCount)].append(flows[Int(index)].firstStage)
        guard flows[Int(index ^ 1)].flags.contains(.released) else { return }
        for pair in [index, index ^ 1] where !flows[Int(pair)].flags.contains(.sourceIsGone) {
            let (next, previous) = (details[Int(pair)].nextOfSource, details[Int(pair)].previousOfSource)
            if next >= 0 { details[Int(next)].previousOfSource = previous }
            if previous >= 0 {
                details[Int(previous)].nextOfSource = next
            } else {
                nodes[Int(flows[Int(pair)].source)].firstFlow = next
            }
        }
        freePairs.append(index & ~1)
    }
}
