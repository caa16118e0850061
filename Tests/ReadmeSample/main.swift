import VBPlayer

let layer = VBDisplayLayer()
layer.frames.setHandler { frame in print("a picture of \(frame.width) × \(frame.height)") }
let player = VBPlayer(
    cdn: "https://cdn.example/title/master.m3u8",
    settings: [
        VBEnablePDNKey: true,  // off by default: no socket but to the CDN
        VBTrackerURLsKey: ["wss://tracker.example"],
        VBTrustedAuthorityKeysKey: ["3ff48e81…"],  // what `pdn keygen` printed
    ])
player.setDisplayLayer(layer)
player.play()
player.seek(to: CMTime(seconds: 90, preferredTimescale: 600), tolerance: .zero) { print("there") }
