import CoreModel
import Cryptography
import Testing

struct AgreementTests {
    private let suite = SystemCryptoSuite()

    /// RFC 7748, section 6.1.
    @Test func `Both sides of X25519 get the published secret`() {
        let alice = suite.agreementKey(
            seed: bytes32("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"))
        let bob = suite.agreementKey(
            seed: bytes32("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))
        #expect(alice.publicKey == bytes32("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"))
        #expect(bob.publicKey == bytes32("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"))
        let secret = bytes32("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
        #expect(alice.sharedSecret(with: bob.publicKey) == secret)
        #expect(bob.sharedSecret(with: alice.publicKey) == secret)
    }

    /// Points of order 1, 2, 4 and 8 on the curve and its twist (RFC 7748, section 6.1: the check for zero).
    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ])
    func `A public key of small order gives no secret`(key: String) {
        #expect(X25519AgreementKey().sharedSecret(with: bytes32(key)) == nil)
    }
}
