import CoreModel
import Integrity
import Testing

struct SignatureContextTests {
    @Test(arguments: SignatureContext.allCases, SignatureContext.allCases)
    func `A signature of one kind never validates as another`(made: SignatureContext, read: SignatureContext) {
        let key = Fixtures.key(made.role, 9)
        for statement in [[], [0], Array("pdn/1 record\0".utf8), Fixtures.bytes(104)] as [[UInt8]] {
            let signature = key.sign(statement, as: made)
            #expect(read.isValid(signature, of: statement, by: key.verificationKey, suite: suite) == (made == read))
        }
    }

    @Test func `No context is a prefix of another's message`() {
        for first in SignatureContext.allCases {
            for second in SignatureContext.allCases where first != second {
                #expect(!second.message([]).starts(with: first.message([])))
            }
        }
    }

    /// The bytes of one kind of thing, whose signature is put where another kind has its own.
    @Test func `Things of one kind never pass as another`() throws {
        // Each kind is signed by one and the same secret in different roles, the worst case.
        let certificate = Fixtures.certificate()
        let token = Fixtures.token()
        #expect(throws: (any Error).self) { try MembershipCertificate(decoding: token.encoded[...]) }
        #expect(throws: (any Error).self) { try ViewerToken(decoding: certificate.encoded[...]) }
        #expect(throws: (any Error).self) { try SignedSegment(decoding: certificate.encoded[...]) }
        #expect(throws: (any Error).self) { try Claim(decoding: certificate.encoded[...]) }
    }

    @Test func `A key does not sign what is not its role's`() async {
        await #expect(processExitsWith: .failure) {
            _ = Fixtures.key(.token, 1).sign([1], as: .record)
        }
    }
}
