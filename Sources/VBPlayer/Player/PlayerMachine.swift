import CoreModel

/// What a player does with commands and with its core's events: state in, actions out, nothing else.
///
/// Each method returns what is to be done, in order. Commands before the core is ready are remembered; a later seek takes
/// the place of an earlier one, whose completion is then due; once failed or closed nothing but completions comes.
struct PlayerMachine {
    /// Where playback stands.
    enum Phase: Equatable {
        /// The core isn't ready.
        case loading
        case ready(duration: MediaTime?)
        case failed
        case closed
    }

    /// A seek that is not over.
    struct Seek: Equatable {
        var id: UInt64
        var time: MediaTime
        var tolerance: MediaTime?
    }

    /// What is to be done.
    enum Action: Equatable {
        case play, pause
        case seek(Seek)
        case shutdown
        case complete(seek: UInt64)
        case publish(Change)
        case tell(Occasion)
        /// The clock started, stopped or jumped: time observers are due.
        case clock(isRunning: Bool)
    }

    /// A change of an observable property.
    enum Change: Equatable { case ready(duration: MediaTime?), failed, rate(Float) }

    /// What the delegate is told.
    enum Occasion: Equatable { case enteredStall, exitedStall, finished }

    private(set) var phase = Phase.loading
    private(set) var wantsPlay = false
    private(set) var isStalled = false
    private(set) var hasEnded = false
    /// Whether the core's clock runs.
    private(set) var isRunning = false
    private(set) var seek: Seek?
    private var lastSeek: UInt64 = 0
    /// Whether seeks go to the core before it is ready, as its owner feeds it for the new place at once.
    let takesEarlySeeks: Bool

    init(takesEarlySeeks: Bool) { self.takesEarlySeeks = takesEarlySeeks }

    mutating func play() -> [Action] {
        guard isAlive, !wantsPlay, !hasEnded else { return [] }
        wantsPlay = true
        let rate = Action.publish(.rate(1))
        return isLoading && !takesEarlySeeks ? [rate] : [rate, .play]
    }

    mutating func pause() -> [Action] {
        guard isAlive, wantsPlay else { return [] }
        wantsPlay = false
        let rate = Action.publish(.rate(0))
        guard !isLoading || takesEarlySeeks else { return [rate] }
        return [rate, .pause] + stopClock(force: true)
    }

    /// Takes a seek; gives its identifier, under which its completion becomes due.
    mutating func seek(to time: MediaTime, tolerance: MediaTime?) -> (id: UInt64, actions: [Action]) {
        lastSeek += 1
        let id = lastSeek
        guard isAlive else { return (id, [.complete(seek: id)]) }
        var actions: [Action] = []
        if let overtaken = self.seek { actions.append(.complete(seek: overtaken.id)) }
        var target = max(time, .zero)
        if case .ready(let duration?) = phase { target = min(target, duration) }
        let seek = Seek(id: id, time: target, tolerance: tolerance)
        self.seek = seek
        hasEnded = false
        isRunning = false
        if !isLoading || takesEarlySeeks { actions.append(.seek(seek)) }
        return (id, actions)
    }

    /// Takes an event of the core.
    mutating func take(_ event: PlaybackEvent) -> [Action] {
        guard isAlive else { return [] }
        switch event {
        case .ready(let duration): return becomeReady(duration)
        case .playing:
            guard wantsPlay else { return [] }
            isRunning = true
            return endStall() + [.clock(isRunning: true)]
        case .stallBegan:
            guard !isStalled else { return [] }
            isStalled = true
            isRunning = false
            return [.clock(isRunning: false), .tell(.enteredStall)]
        case .stallEnded:
            let actions = endStall()
            guard wantsPlay, seek == nil, !isRunning, !actions.isEmpty else { return actions }
            isRunning = true
            return actions + [.clock(isRunning: true)]
        case .qualities, .quality: return []
        case .seekEnded(let id):
            guard let seek, seek.id == id else { return [] }
            self.seek = nil
            // A core that takes seeks early may tell of one that was cancelled before media came.
            return [.clock(isRunning: isRunning), .complete(seek: id)]
        case .ended:
            // A seek that the core has yet to take leads away from this end.
            guard !hasEnded, seek == nil else { return [] }
            hasEnded = true
            isRunning = false
            wantsPlay = false
            return endStall() + [.pause, .publish(.rate(0)), .clock(isRunning: false), .tell(.finished)]
        case .failed:
            let actions = endStall() + [.publish(.rate(0)), .publish(.failed)] + completeSeek()
            phase = .failed
            isRunning = false
            wantsPlay = false
            return actions + [.clock(isRunning: false), .shutdown]
        }
    }

    /// The player was released.
    mutating func close() -> [Action] {
        guard phase != .closed else { return [] }
        phase = .closed
        isRunning = false
        return completeSeek() + [.shutdown]
    }

    private var isAlive: Bool { phase != .failed && phase != .closed }
    private var isLoading: Bool { phase == .loading }

    private mutating func becomeReady(_ duration: MediaTime?) -> [Action] {
        guard isLoading else { return [] }
        phase = .ready(duration: duration)
        var actions: [Action] = [.publish(.ready(duration: duration))]
        guard !takesEarlySeeks else { return actions }
        if var seek {
            if let duration { seek.time = min(seek.time, duration) }
            self.seek = seek
            actions.append(.seek(seek))
        }
        if wantsPlay { actions.append(.play) }
        return actions
    }

    private mutating func endStall() -> [Action] {
        guard isStalled else { return [] }
        isStalled = false
        return [.tell(.exitedStall)]
    }

    private mutating func completeSeek() -> [Action] {
        defer { seek = nil }
        return seek.map { [.complete(seek: $0.id)] } ?? []
    }

    private mutating func stopClock(force: Bool) -> [Action] {
        let wasRunning = isRunning
        isRunning = false
        return wasRunning || force ? [.clock(isRunning: false)] : []
    }
}
