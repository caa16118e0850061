import CoreModel
import Cryptography
import Testing

struct SealTests {
    private let suite = SystemCryptoSuite()

    /// RFC 8439, appendix A.5: the one vector of the RFC whose nonce has Noise's shape.
    private let key = bytes32("1c9240a5eb55d38af333888604f6b5f0473917c1402b80099dca5cbc207075c0")
    private let nonce: UInt64 = 0x0807_0605_0403_0201
    private let associatedData = bytes("f33388860000000000004e91")
    private let message = bytes(
        """
        64a0861575861af460f062c79be643bd5e805cfd345cf389f108670ac76c8cb24c6cfc18755d43eea09ee94e382d26b0
        bdb7b73c321b0100d4f03b7f355894cf332f830e710b97ce98c8a84abd0b948114ad176e008d33bd60f982b1ff37c855
        9797a06ef4f0ef61c186324e2b3506383606907b6a7c02b0f9f6157b53c867e4b9166c767b804d46a59b5216cde7a4e9
        9040c5a40433225ee282a1b0a06c523eaf4534d7f83fa1155b0047718cbc546a0d072b04b3564eea1b422273f548271a
        0bb2316053fa76991955ebd63159434ecebb4e466dae5a1073a6727627097a1049e617d91d361094fa68f0ff77987130
        305beaba2eda04df997b714d6c6f2c29a6ad5cb4022b02709b eead9d67890cbb22392336fea1851f38
        """)
    private let plaintext = Array(
        """
        Internet-Drafts are draft documents valid for a maximum of six months and may be updated, replaced, or \
        obsoleted by other documents at any time. It is inappropriate to use Internet-Drafts as reference material \
        or to cite them other than as /“work in progress./”
        """.utf8)

    @Test func `The published message opens`() {
        var output: [UInt8] = [9]
        #expect(
            suite.open(
                key: key, nonce: nonce, associatedData: associatedData.span.bytes, message.span.bytes,
                appendingTo: &output))
        #expect(output == [9] + plaintext)
    }

    @Test(arguments: [0, 1, 63, 64, 65, 200])
    func `Any split of the plaintext gives the published message`(first: Int) {
        var output: [UInt8] = [9]
        suite.seal(
            key: key, nonce: nonce, associatedData: associatedData.span.bytes,
            Array(plaintext[..<first]).span.bytes, Array(plaintext[first...]).span.bytes, appendingTo: &output)
        #expect(output == [9] + message)
    }

    @Test func `A flipped bit is refused and leaves the output as it was`() {
        for bit in stride(from: 0, to: message.count * 8, by: 7) {
            var altered = message
            altered[bit / 8] ^= 1 << UInt8(bit % 8)
            var output: [UInt8] = [1, 2]
            #expect(
                !suite.open(
                    key: key, nonce: nonce, associatedData: associatedData.span.bytes, altered.span.bytes,
                    appendingTo: &output))
            #expect(output == [1, 2])
        }
        var output: [UInt8] = []
        #expect(
            !suite.open(
                key: key, nonce: nonce, associatedData: [UInt8]().span.bytes, message.span.bytes, appendingTo: &output))
        #expect(
            !suite.open(
                key: key, nonce: nonce ^ 1, associatedData: associatedData.span.bytes, message.span.bytes,
                appendingTo: &output))
        #expect(output.isEmpty)
    }

    @Test(arguments: 0..<16)
    func `A message shorter than its tag is refused`(count: Int) {
        var output: [UInt8] = []
        #expect(
            !suite.open(
                key: key, nonce: 0, associatedData: [UInt8]().span.bytes, Array(message.prefix(count)).span.bytes,
                appendingTo: &output))
    }

    @Test func `Messages of any length open again, empty ones too`() {
        var sealed: [UInt8] = []
        suite.seal(
            key: key, nonce: 0, associatedData: [UInt8]().span.bytes, [UInt8]().span.bytes, [UInt8]().span.bytes,
            appendingTo: &sealed)
        #expect(sealed.count == 16)
        var output: [UInt8] = []
        #expect(
            suite.open(
                key: key, nonce: 0, associatedData: [UInt8]().span.bytes, sealed.span.bytes, appendingTo: &output))
        #expect(output.isEmpty)

        let long = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        sealed = []
        suite.seal(
            key: key, nonce: .max, associatedData: [UInt8(5)].span.bytes, long.span.bytes, [UInt8]().span.bytes,
            appendingTo: &sealed)
        #expect(
            suite.open(
                key: key, nonce: .max, associatedData: [UInt8(5)].span.bytes, sealed.span.bytes, appendingTo: &output))
        #expect(output == long)
    }
}
