import CoreModel

/// The bytes that hexadecimal digits spell, white space left out.
func bytes(_ hexadecimal: String) -> [UInt8] {
    Hexadecimal.decode(hexadecimal.filter { !$0.isWhitespace })!
}

/// Thirty-two bytes from hexadecimal digits.
func bytes32(_ hexadecimal: String) -> Bytes32 { Bytes32(bytes(hexadecimal))! }
