internal import CCurl
internal import CCurlShims

extension HTTPError {
    /// What libcurl's code says of a connection that did not come up or broke.
    init(connecting code: CURLcode, _ easy: UnsafeMutableRawPointer, url: String) {
        let text = unsafe String(cString: curl_easy_strerror(code))
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: self = .resolve(host: Self.host(of: url))
        case CURLE_COULDNT_CONNECT:
            var number = 0
            unsafe _ = ccurl_easy_get_long(easy, CURLINFO_OS_ERRNO, &number)
            self = number == 111 ? .refused : .connect(text)
        case CURLE_OPERATION_TIMEDOUT, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2,
            CURLE_HTTP2_STREAM:
            self = .connect(text)
        case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: self = .invalidURL(url)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            self = .tls(text)
        default: self = .other(text)
        }
    }

    private static func host(of url: String) -> String {
        let rest = url.drop { $0 != "/" }.dropFirst(2)
        return String(rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" })
    }
}
