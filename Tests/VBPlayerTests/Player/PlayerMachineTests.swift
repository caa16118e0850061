import CoreModel
import Testing
@testable import VBPlayer

struct PlayerMachineTests {
    private func time(_ seconds: Int64) -> MediaTime { MediaTime(seconds: seconds) }

    private func ready(_ seconds: Int64? = 10, early: Bool = false) -> PlayerMachine {
        var machine = PlayerMachine(takesEarlySeeks: early)
        _ = machine.take(.ready(duration: seconds.map { MediaTime(seconds: $0) }))
        return machine
    }

    @Test func commandsBeforeReadyAreRemembered() {
        var machine = PlayerMachine(takesEarlySeeks: false)
        #expect(machine.play() == [.publish(.rate(1))])
        let first = machine.seek(to: time(3), tolerance: .zero)
        #expect(first.actions == [])
        let second = machine.seek(to: time(20), tolerance: nil)
        #expect(second.actions == [.complete(seek: first.id)])
        let seek = PlayerMachine.Seek(id: second.id, time: time(10), tolerance: nil)
        #expect(machine.take(.ready(duration: time(10))) == [.publish(.ready(duration: time(10))), .seek(seek), .play])
    }

    @Test func playAndPauseBeforeReadyLeaveNothing() {
        var machine = PlayerMachine(takesEarlySeeks: false)
        _ = machine.play()
        #expect(machine.pause() == [.publish(.rate(0))])
        #expect(machine.take(.ready(duration: nil)) == [.publish(.ready(duration: nil))])
    }

    @Test func aDataPlayerSeeksBeforeItIsReady() {
        var machine = PlayerMachine(takesEarlySeeks: true)
        let (id, actions) = machine.seek(to: time(3), tolerance: nil)
        #expect(actions == [.seek(PlayerMachine.Seek(id: id, time: time(3), tolerance: nil))])
        #expect(machine.play() == [.publish(.rate(1)), .play])
        #expect(machine.take(.ready(duration: nil)) == [.publish(.ready(duration: nil))])
    }

    @Test func seeksAreClampedAndOvertaken() {
        var machine = ready()
        let first = machine.seek(to: time(-5), tolerance: .zero)
        #expect(first.actions == [.seek(PlayerMachine.Seek(id: first.id, time: .zero, tolerance: .zero))])
        let second = machine.seek(to: time(50), tolerance: .zero)
        #expect(
            second.actions == [
                .complete(seek: first.id),
                .seek(PlayerMachine.Seek(id: second.id, time: time(10), tolerance: .zero)),
            ])
        #expect(machine.take(.seekEnded(id: first.id)) == [])
        #expect(machine.take(.seekEnded(id: second.id)) == [.clock(isRunning: false), .complete(seek: second.id)])
        #expect(machine.take(.seekEnded(id: second.id)) == [])
    }

    @Test func stallsComeInPairs() {
        var machine = ready()
        _ = machine.play()
        #expect(machine.take(.playing) == [.clock(isRunning: true)])
        #expect(machine.take(.stallBegan) == [.clock(isRunning: false), .tell(.enteredStall)])
        #expect(machine.take(.stallBegan) == [])
        #expect(machine.take(.stallEnded) == [.tell(.exitedStall), .clock(isRunning: true)])
        #expect(machine.take(.stallEnded) == [])
        _ = machine.take(.stallBegan)
        #expect(machine.pause() == [.publish(.rate(0)), .pause, .clock(isRunning: false)])
        #expect(machine.take(.stallEnded) == [.tell(.exitedStall)])
    }

    @Test func theEndStopsTheClockUntilASeek() {
        var machine = ready()
        _ = machine.play()
        _ = machine.take(.playing)
        #expect(
            machine.take(.ended) == [.pause, .publish(.rate(0)), .clock(isRunning: false), .tell(.finished)])
        #expect(machine.take(.ended) == [] && machine.play() == [])
        _ = machine.seek(to: .zero, tolerance: nil)
        #expect(machine.play() == [.publish(.rate(1)), .play])
    }

    @Test func anEndThatASeekOvertookIsNone() {
        var machine = ready()
        _ = machine.play()
        let (id, _) = machine.seek(to: time(1), tolerance: nil)
        #expect(machine.take(.ended) == [] && machine.wantsPlay)
        #expect(machine.take(.seekEnded(id: id)) == [.clock(isRunning: false), .complete(seek: id)])
        #expect(machine.take(.playing) == [.clock(isRunning: true)])
    }

    @Test func failureIsFinal() {
        var machine = ready()
        _ = machine.play()
        let (id, _) = machine.seek(to: time(1), tolerance: nil)
        let error = PlayerError(.notFound, "Gone.")
        #expect(
            machine.take(.failed(error)) == [
                .publish(.rate(0)), .publish(.failed), .complete(seek: id), .clock(isRunning: false), .shutdown,
            ])
        #expect(machine.take(.failed(error)) == [] && machine.play() == [] && machine.pause() == [])
        let late = machine.seek(to: .zero, tolerance: nil)
        #expect(late.actions == [.complete(seek: late.id)])
        #expect(machine.close() == [.shutdown])
        #expect(machine.close() == [])
    }

    @Test func releaseCompletesWhatWaits() {
        var machine = PlayerMachine(takesEarlySeeks: false)
        let (id, _) = machine.seek(to: time(1), tolerance: nil)
        #expect(machine.close() == [.complete(seek: id), .shutdown])
        #expect(machine.take(.ready(duration: nil)) == [])
    }
}
