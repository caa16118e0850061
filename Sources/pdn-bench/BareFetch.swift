import CCurl
import CCurlShims
import Glibc

/// libcurl called as directly as can be: one handle, one resource after the other over one connection.
struct BareFetch {
    /// Why there is no body.
    struct Failure: Error, CustomStringConvertible {
        var url: String
        var code: UInt32
        var description: String { "\(url): libcurl's error \(code)" }
    }

    private final class Body {
        var bytes: [UInt8] = []
    }

    private let easy = curl_easy_init()
    private let body = Body()

    /// Fetches a resource, or a range of it.
    func get(_ url: String, range: Range<UInt64>? = nil) throws -> [UInt8] {
        body.bytes = []
        _ = ccurl_easy_set_string(easy, CURLOPT_URL, url)
        if let range {
            _ = ccurl_easy_set_string(easy, CURLOPT_RANGE, "\(range.lowerBound)-\(range.upperBound - 1)")
        } else {
            _ = ccurl_easy_set_string(easy, CURLOPT_RANGE, nil)
        }
        _ = ccurl_easy_set_long(easy, CURLOPT_FAILONERROR, 1)
        _ = ccurl_easy_set_pointer(easy, CURLOPT_WRITEDATA, Unmanaged.passUnretained(body).toOpaque())
        _ = ccurl_easy_set_data_callback(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let body = Unmanaged<Body>.fromOpaque(context).takeUnretainedValue()
            body.bytes.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: size * count))
            return size * count
        }
        let code = curl_easy_perform(easy)
        guard code == CURLE_OK else { throw Failure(url: url, code: code.rawValue) }
        return body.bytes
    }

    /// Ends the connection.
    func close() { curl_easy_cleanup(easy) }
}
