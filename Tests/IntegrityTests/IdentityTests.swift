import CoreModel
import Integrity
import Testing

struct IdentityTests {
    @Test func `Streams and swarms come from names and secrets`() {
        let stream = StreamIdentity.stream(named: "a", suite: suite)
        #expect(stream != StreamIdentity.stream(named: "b", suite: suite))
        let key = Fixtures.authority.verificationKey
        #expect(stream != StreamIdentity.stream(authority: key, title: "a", suite: suite))
        #expect(
            StreamIdentity.swarm(of: stream, secret: [], suite: suite)
                != StreamIdentity.swarm(of: stream, secret: [1], suite: suite))
    }

    private func video(_ height: Int, path: String = "", name: String? = nil) -> RenditionDescription {
        RenditionDescription(
            format: .hls, kind: .video, codecs: ["avc1.64001F", "mp4a.40.2"], width: height * 16 / 9, height: height,
            frameRateMilli: 29970, bandwidth: height * 1000, name: name, path: path)
    }

    @Test func `The canonical line does not depend on order or case`() {
        var other = video(720)
        other.codecs = ["MP4A.40.2", "AVC1.64001f"]
        #expect(other.canonical(includingPath: false) == video(720).canonical(includingPath: false))
        #expect(
            video(720, path: "v/720", name: "a;b=%\n").canonical(includingPath: true)
                == "format=hls;kind=video;codecs=avc1.64001f,mp4a.40.2;width=1280;height=720;rate=29970;"
                + "bandwidth=720000;name=a%3Bb%3D%25%0A;path=v/720")
    }

    @Test func `Keys need the path only where attributes clash`() {
        let lines = RenditionKeys.canonicalLines([
            video(720, path: "p/1"), video(480, path: "p/2"), video(480, path: "p/3"), video(360, path: "p/4"),
            video(360, path: "p/4"),
        ])
        #expect(lines[0] == video(720).canonical(includingPath: false))
        #expect(lines[1] == video(480, path: "p/2").canonical(includingPath: true))
        #expect(lines[2] == video(480, path: "p/3").canonical(includingPath: true))
        #expect(lines[3] == nil && lines[4] == nil)
        let keys = RenditionKeys.assign([video(720), video(480)], suite: suite)
        let reversed = RenditionKeys.assign([video(480), video(720)], suite: suite)
        #expect(keys[0] == reversed[1] && keys[1] == reversed[0] && keys[0] != keys[1] && keys[0] != nil)
    }
}
