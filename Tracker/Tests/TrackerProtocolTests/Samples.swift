import CoreModel
import Cryptography
import TrackerProtocol

/// Values that several suites use.
enum Samples {
    static let suite = SystemCryptoSuite()
    static let claimKey = suite.signingKey(seed: key(7))
    static let membershipKey = suite.signingKey(seed: key(8)).verificationKey

    static func key(_ byte: UInt8) -> Bytes32 {
        guard let key = Bytes32([UInt8](repeating: byte, count: 32)) else { preconditionFailure("32 bytes") }
        return key
    }

    static let request = JoinRequest(
        stream: StreamID(Bytes16(high: 1, low: 2)), peer: PeerID(key(3)), claimKey: claimKey.verificationKey,
        listenPort: 4001, flags: [.metered], startPositionMilliseconds: 90_000, token: [1, 2, 3],
        previousCertificate: [4, 5])

    static let report = ViewerReport(
        isPlaying: true, positionMilliseconds: 90_500, bufferedMilliseconds: 12_000, mediaBitsPerSecond: 2_500_000,
        uplinkBitsPerSecond: 5_000_000, bytesFromCDN: 1, bytesFromPeers: 2, bytesUploaded: 3, chunksRejected: 4,
        peersConnected: 5, stalls: 6)

    static func welcome(reportInterval: UInt32 = 10_000, certificateLife: UInt32 = 1800) -> Welcome {
        guard let swarm = SwarmID([UInt8](repeating: 9, count: 20)) else { preconditionFailure("20 bytes") }
        var settings = RemoteSettings()
        settings.maximumUploadPercent = 100
        settings.disablesPeers = true
        return Welcome(
            swarm: swarm, swarmSecret: [6, 6], membershipKey: membershipKey,
            certificate: IssuedCertificate(bytes: [0xCE], validForSeconds: certificateLife),
            serverTime: UnixTime(milliseconds: 1_800_000_000_123), swarmSize: 17,
            reportIntervalMilliseconds: reportInterval,
            observedAddress: NetworkAddress(ipv4: 0xC000_0201, port: 4001), settings: settings)
    }

    static let front = Front(
        generation: 5, validForMilliseconds: 60_000, leadPositionMilliseconds: 95_000,
        members: [PeerID(key(3)), PeerID(key(1))])

    static let trackerMessages: [TrackerMessage] = [
        .challenge(Challenge(nonce: key(0xAA))), .welcome(welcome()),
        .peers([
            PeerCandidate(
                peer: PeerID(key(1)), address: NetworkAddress(ipv4: 0x7F00_0001, port: 5), positionMilliseconds: 1)
        ]),
        .peers([]), .front(front), .swarm(size: 40_000),
        .certificate(IssuedCertificate(bytes: [1, 2, 3], validForSeconds: 60)),
        .error(ControlError(code: .tokenExpired, retryAfterMilliseconds: ControlError.never, text: "über")),
    ]

    static var viewerMessages: [ViewerMessage] {
        [
            .join(
                request,
                signature: claimKey.sign(ControlProtocol.joinStatement(challenge: key(0xAA), request: request))),
            .report(report), .wantPeers(count: 20), .renew, .leave,
        ]
    }
}
