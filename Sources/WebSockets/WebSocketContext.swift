internal import CWebsockets
internal import CWebsocketsShims
internal import CoreModel
internal import EventLoop
internal import Synchronization

/// A libwebsockets context on a loop: a server's, or the one that all clients of a loop share.
///
/// The context is destroyed when it is closed or its loop stops; its handles close in the loop's next rounds.
@safe final class WebSocketContext {
    /// A request for a page.
    typealias PageHandler = (_ method: String, _ path: String) -> HTTPPage

    let loop: EventLoop
    private(set) var context: OpaquePointer?
    /// Connections by their address, which the library keeps for them.
    private var sockets: [UInt: WebSocket] = [:]
    /// Bodies on their way out, and whether the connection ends after them.
    private var pages: [UInt: (body: [UInt8], isLast: Bool)] = [:]
    var onPage: PageHandler?
    var onAccept: ((WebSocket) -> Bool)?

    /// The subprotocol (RFC 6455, section 1.9) that clients ask for and servers choose, also when none was asked for.
    static let subprotocol = "pdn-control-1"

    /// The library keeps a pointer to these for the life of the process.
    private nonisolated(unsafe) static let protocols: UnsafeMutablePointer<lws_protocols> = {  // Written once, here.
        let protocols = UnsafeMutablePointer<lws_protocols>.allocate(capacity: 2)
        unsafe protocols.initialize(repeating: lws_protocols(), count: 2)
        unsafe protocols[0].name = UnsafePointer(strdup(subprotocol))
        unsafe protocols[0].callback = { wsi, reason, _, bytes, count in
            guard let wsi = unsafe wsi, let context = unsafe lws_get_context(wsi),
                let user = unsafe lws_context_user(context)
            else { return 0 }
            let owner = unsafe Unmanaged<WebSocketContext>.fromOpaque(user).takeUnretainedValue()
            let data = unsafe UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count)
            return unsafe owner.handle(wsi, reason, data)
        }
        unsafe protocols[0].rx_buffer_size = 16 * 1024
        return unsafe protocols
    }()

    init?(
        loop: EventLoop, port: Int32 = -1, interface: String? = nil, descriptorLimit: UInt32,
        certificateFile: String? = nil
    ) {
        loop.checkIsolated()
        self.loop = loop
        unsafe context = cwebsockets_create_context(
            loop.rawLoop, port, interface, Self.protocols, Unmanaged.passUnretained(self).toOpaque(), descriptorLimit,
            certificateFile)
        guard unsafe context != nil else { return nil }
        loop.onStop(ObjectIdentifier(self)) { [unowned self] in close() }
    }

    var port: Int32 { unsafe context.map { unsafe cwebsockets_listen_port($0) } ?? -1 }

    func close() {
        guard let context = unsafe context else { return }
        unsafe self.context = nil
        // The library calls back until its last handle on the loop has closed.
        loop.keepUntilStopped(self)
        loop.removeStopHandler(ObjectIdentifier(self))
        unsafe lws_context_destroy(context)
        for socket in sockets.values { socket.end("the loop stopped") }
        sockets = [:]
    }

    /// Starts a client connection; false when it failed at once.
    func connect(_ socket: WebSocket, host: String, port: Int32, path: String, isSecure: Bool) -> Bool {
        guard let context = unsafe context else { return false }
        let key = unsafe Unmanaged.passUnretained(socket).toOpaque()
        sockets[UInt(bitPattern: key)] = socket
        let handle = unsafe cwebsockets_connect(context, host, port, path, isSecure ? 1 : 0, key, Self.subprotocol)
        guard let handle = unsafe handle else {
            sockets[UInt(bitPattern: key)] = nil
            return false
        }
        unsafe socket.handle = handle
        return true
    }

    private func socket(_ wsi: OpaquePointer) -> WebSocket? {
        guard let key = unsafe lws_get_opaque_user_data(wsi) else { return nil }
        return sockets[UInt(bitPattern: key)]
    }

    private func end(_ wsi: OpaquePointer, _ reason: String) {
        guard let key = unsafe lws_get_opaque_user_data(wsi),
            let socket = sockets.removeValue(forKey: UInt(bitPattern: key))
        else { return }
        unsafe lws_set_opaque_user_data(wsi, nil)
        socket.end(reason)
    }

    private func handle(
        _ wsi: OpaquePointer, _ reason: lws_callback_reasons, _ data: UnsafeRawBufferPointer
    ) -> Int32 {
        switch reason {
        case LWS_CALLBACK_ESTABLISHED:
            let socket = WebSocket()
            let key = unsafe Unmanaged.passUnretained(socket).toOpaque()
            socket.remoteAddress = unsafe Self.remoteAddress(wsi)
            sockets[UInt(bitPattern: key)] = socket
            unsafe lws_set_opaque_user_data(wsi, key)
            unsafe socket.open(wsi)
            return onAccept?(socket) ?? false ? 0 : -1
        case LWS_CALLBACK_CLIENT_ESTABLISHED:
            guard let socket = unsafe socket(wsi) else { return -1 }
            unsafe socket.open(wsi)
            return 0
        case LWS_CALLBACK_RECEIVE, LWS_CALLBACK_CLIENT_RECEIVE:
            guard let socket = unsafe socket(wsi) else { return -1 }
            guard unsafe lws_frame_is_binary(wsi) != 0 else {
                socket.refuseText()
                return -1
            }
            let isFinal = unsafe lws_is_final_fragment(wsi) != 0 && lws_remaining_packet_payload(wsi) == 0
            return unsafe socket.take(data, isFinal: isFinal) ? 0 : -1
        case LWS_CALLBACK_SERVER_WRITEABLE, LWS_CALLBACK_CLIENT_WRITEABLE:
            guard let socket = unsafe socket(wsi) else { return -1 }
            return socket.write() ? 0 : -1
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
            unsafe end(wsi, data.isEmpty ? "no connection" : String(decoding: data.prefix { $0 != 0 }, as: UTF8.self))
            return 0
        case LWS_CALLBACK_CLOSED, LWS_CALLBACK_CLIENT_CLOSED:
            unsafe end(wsi, "the other side closed the connection")
            return 0
        case LWS_CALLBACK_HTTP: return unsafe answer(wsi, path: String(decoding: data, as: UTF8.self))
        case LWS_CALLBACK_HTTP_WRITEABLE: return unsafe writePage(wsi)
        case LWS_CALLBACK_CLOSED_HTTP:
            pages[UInt(bitPattern: wsi)] = nil
            return 0
        case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION, LWS_CALLBACK_PROTOCOL_INIT, LWS_CALLBACK_PROTOCOL_DESTROY:
            return 0
        default:
            return unsafe lws_callback_http_dummy(
                wsi, reason, nil, UnsafeMutableRawPointer(mutating: data.baseAddress), data.count)
        }
    }

    // MARK: - Pages

    private func answer(_ wsi: OpaquePointer, path: String) -> Int32 {
        guard let onPage else { return -1 }
        let isGet = unsafe lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) > 0
        let page = onPage(isGet ? "GET" : "POST", path)
        guard unsafe cwebsockets_write_head(wsi, UInt32(page.status), page.contentType, UInt(page.body.count)) == 0
        else { return -1 }
        // What a request other than GET brings with it is not read.
        pages[UInt(bitPattern: wsi)] = (page.body, !isGet)
        unsafe _ = lws_callback_on_writable(wsi)
        return 0
    }

    private func writePage(_ wsi: OpaquePointer) -> Int32 {
        guard let (body, isLast) = pages.removeValue(forKey: UInt(bitPattern: wsi)) else { return 0 }
        let pre = Int(cwebsockets_pre())
        var buffer = [UInt8](repeating: 0, count: pre)
        buffer.append(contentsOf: body)
        let written = unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return Int32(-1) }
            return unsafe lws_write(wsi, base + pre, body.count, LWS_WRITE_HTTP_FINAL)
        }
        guard written >= 0, !isLast else { return -1 }
        return unsafe lws_http_transaction_completed(wsi) != 0 ? -1 : 0
    }

    private static func remoteAddress(_ wsi: OpaquePointer) -> NetworkAddress? {
        var text = [CChar](repeating: 0, count: 64)
        unsafe _ = text.withUnsafeMutableBufferPointer { unsafe lws_get_peer_simple(wsi, $0.baseAddress, $0.count) }
        let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return NetworkAddress(numericHost: name, port: 0)
    }
}

/// What a server answers to a request that is no WebSocket.
public struct HTTPPage: Sendable {
    /// The status code.
    public var status: Int
    /// The media type.
    public var contentType: String
    /// The body.
    public var body: [UInt8]

    /// Makes an answer.
    public init(status: Int = 200, contentType: String = "application/json", body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}
