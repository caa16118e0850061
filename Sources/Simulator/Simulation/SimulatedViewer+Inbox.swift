internal import CoreModel
internal import Scheduling
internal import SwarmProtocol
internal import TrackerProtocol

/// How a viewer takes up what has come and what it is time for, all together: then it decides once and sends once.
extension SimulatedViewer {
    /// What is left to do before the viewer rests.
    struct Chores: OptionSet {
        let rawValue: UInt8

        /// To ask the neighbourhood what it wants.
        static let drive = Chores(rawValue: 1)
        /// To hand the player what is there.
        static let pump = Chores(rawValue: 2)
        /// To ask the scheduler what it wants.
        static let decide = Chores(rawValue: 4)
    }

    /// Takes up what has come, what it is time for, and then something more.
    func act(_ body: () -> Void) {
        guard isOnline, !isActing else { return body() }
        isActing = true
        takeMail()
        ring()
        body()
        finishActing()
    }

    /// Puts something off until all that has come has been taken up; does it now when that is so.
    func put(_ chore: Chores) {
        chores.insert(chore)
        if !isActing { act {} }
    }

    private func finishActing() {
        while isOnline, !chores.isEmpty {
            if chores.remove(.drive) != nil {
                driveNow()
            } else if chores.remove(.pump) != nil {
                pumpNow()
            } else {
                chores.remove(.decide)
                decideNow()
            }
        }
        chores = []
        isActing = false
        guard isOnline else { return }
        world.inboxes[index].due = .distantFuture
        world.planLook(of: index, at: nextLook)
    }

    /// Takes up what has come, in its order.
    private func takeMail() {
        while let content = world.takeMail(of: index) {
            switch content {
            case .message(let parcel, let link):
                guard let parcel = world.parcels.remove(Int(parcel)) else { continue }
                received(parcel.bytes, missing: parcel.missing, on: link)
            case .acknowledged(let link): acknowledged(link)
            case .media(let id, let byteCount, let isLast): received(Int(byteCount), of: id, isLast: isLast)
            }
        }
    }

    // MARK: Alarms

    func arm(_ wake: Wake, at instant: MonotonicInstant) {
        alarms[wake.rawValue] = instant
        if !isActing { world.planLook(of: index, at: nextLook) }
    }

    func disarm(_ wake: Wake) { alarms[wake.rawValue] = .distantFuture }

    /// Does what it is time for.
    private func ring() {
        for number in alarms.indices where alarms[number] <= now {
            alarms[number] = .distantFuture
            switch Wake(rawValue: number) {
            case .scheduler: feed(.timer)
            case .neighbourhood: drive()
            case .tracker: feedTracker(.timeout)
            case .look:
                arm(.look, at: now.advanced(by: Self.tick))
                look()
            case .player: advancePlayer()
            case nil: break
            }
        }
    }

    /// When the viewer has to look if nothing comes: what isn't tied to a moment may wait for something that does.
    private var nextLook: MonotonicInstant {
        let tied = min(alarms[Wake.neighbourhood.rawValue], alarms[Wake.player.rawValue])
        let others = min(
            alarms[Wake.scheduler.rawValue], alarms[Wake.tracker.rawValue], alarms[Wake.look.rawValue])
        return others == .distantFuture ? tied : min(tied, others.advanced(by: Simulation.shortDelay))
    }
}
