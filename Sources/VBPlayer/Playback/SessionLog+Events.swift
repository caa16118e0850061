import CoreModel
package import MediaEngine

/// What the player and its engine do, in words.
extension SessionLog {
    /// Notes what the engine tells.
    package func note(_ event: EngineEvent) {
        switch event {
        case .ready(let info):
            let picture = info.pictureSize.map { "a picture of \($0.width) × \($0.height)" } ?? "no picture"
            note(.info, .engine, "the media holds \(picture) and \(info.hasAudio ? "sound" : "no sound")")
        case .firstFrame(let time): note(.info, .engine, "the first picture, of \(time.seconds) s, is decoded")
        case .playing(let position): note(.info, .engine, "the clock runs from \(position.seconds) s")
        case .stallBegan(let position): note(.warning, .engine, "no media at \(position.seconds) s")
        case .stallEnded(let position): note(.info, .engine, "media again at \(position.seconds) s")
        case .seekCompleted(_, let time): note(.debug, .engine, "the seek landed at \(time.seconds) s")
        case .seekCancelled: note(.debug, .engine, "the seek was overtaken")
        case .ended: note(.info, .engine, "the last picture has been shown")
        case .failed(let error): note(.error, .engine, "\(error)")
        }
    }

    /// Notes what the player is told.
    func note(_ event: PlaybackEvent) {
        switch event {
        case .ready(let duration):
            note(.info, .player, "ready to play \(duration.map { "\($0.seconds) s" } ?? "a stream without an end")")
        case .qualities(let qualities, let isAutomatic):
            let names = qualities.map(\.id).joined(separator: ", ")
            note(.debug, .player, "qualities: \(names)\(isAutomatic ? "" : ", fixed")")
        case .quality(let id): note(.info, .player, "the picture is of quality \(id)")
        case .playing: note(.info, .player, "playing")
        case .stallBegan: note(.warning, .player, "stalled")
        case .stallEnded: note(.info, .player, "no longer stalled")
        case .seekEnded: note(.debug, .player, "the seek ended")
        case .ended: note(.info, .player, "finished")
        case .failed(let error): note(.error, .player, "\(error)")
        }
    }
}
