internal import HTTPTransfer

extension RawConnection: Transport {
    // libcurl can't end one direction; the server closes the connection (RFC 6455, section 7.1.1).
    func finishWriting() {}
}
