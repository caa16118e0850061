internal import CLibuv
public import CoreModel
internal import Glibc

/// Looks host names up on libuv's thread pool, without blocking the loop.
@safe public final class Resolver {
    /// The most addresses that one answer gives.
    public static let maximumAddressCount = 16

    /// One look-up under way. Confined to the loop; releasing it doesn't end it.
    @safe public final class Query {
        fileprivate var completion: ((Result<[NetworkAddress], LoopError>) -> Void)?
        fileprivate let port: UInt16
        /// libuv's request until its callback, which frees it.
        fileprivate var request: UnsafeMutablePointer<uv_getaddrinfo_t>?
        private let loop: EventLoop

        fileprivate init(
            loop: EventLoop, port: UInt16, completion: @escaping (Result<[NetworkAddress], LoopError>) -> Void
        ) {
            self.loop = loop
            self.port = port
            self.completion = completion
        }

        /// Ends the look-up; its completion isn't called any more. Harmless when it has ended.
        ///
        /// One that the system has begun goes on in its thread, and a loop that stops waits for it.
        public func cancel() {
            loop.checkIsolated()
            completion = nil
            abandon()
        }

        /// The loop stops: what has not begun never does.
        fileprivate func loopStops() {
            let completion = completion
            self.completion = nil
            abandon()
            completion?(.failure(.cancelled))
        }

        fileprivate func finish(_ answer: Result<[NetworkAddress], LoopError>) {
            unsafe request = nil
            loop.removeStopHandler(ObjectIdentifier(self))
            completion?(answer)
        }

        private func abandon() {
            guard let request = unsafe request else { return }
            // Refused when the system has begun; then the callback finds nobody to tell.
            unsafe _ = uv_cancel(UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_req_t.self))
        }
    }

    private let loop: EventLoop

    /// Makes a resolver of the loop.
    public init(loop: EventLoop) { self.loop = loop }

    /// Looks up the addresses of `host`, in the system's order of preference.
    ///
    /// - Parameter completion: Called once, on the loop; before this returns when `host` is a number or the call itself
    ///   failed.
    /// - Returns: What ends the look-up early.
    @discardableResult
    public func resolve(
        _ host: String, port: UInt16, completion: @escaping (Result<[NetworkAddress], LoopError>) -> Void
    ) -> Query {
        loop.checkIsolated()
        let query = Query(loop: loop, port: port, completion: completion)
        if let address = NetworkAddress(numericHost: host, port: port), !host.isEmpty {
            completion(.success([address]))
            return query
        }
        guard loop.acceptsHandles else {
            completion(.failure(.cancelled))
            return query
        }
        let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
        unsafe request.initialize(to: uv_getaddrinfo_t())
        // Balanced in the callback, which always comes.
        unsafe request.pointee.data = Unmanaged.passRetained(query).toOpaque()
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        let code = unsafe uv_getaddrinfo(
            loop.uv, request,
            { request, status, list in
                guard let request = unsafe request, let data = unsafe request.pointee.data else { return }
                let query = unsafe Unmanaged<Query>.fromOpaque(data).takeRetainedValue()
                unsafe request.deallocate()
                var addresses: [NetworkAddress] = []
                var entry = unsafe list
                while let current = unsafe entry, addresses.count < Resolver.maximumAddressCount {
                    var storage = sockaddr_storage()
                    let length = unsafe min(
                        Int(current.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
                    if let address = unsafe current.pointee.ai_addr {
                        unsafe withUnsafeMutableBytes(of: &storage) {
                            unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: length))
                        }
                    }
                    if var address = NetworkAddress(storage) {
                        address.port = query.port
                        addresses.append(address)
                    }
                    unsafe entry = current.pointee.ai_next
                }
                if let list = unsafe list { unsafe uv_freeaddrinfo(list) }
                query.finish(status < 0 ? .failure(LoopError(rawValue: status)) : .success(addresses))
            }, host, nil, &hints)
        if code < 0 {
            unsafe Unmanaged.passUnretained(query).release()
            unsafe request.deallocate()
            completion(.failure(LoopError(rawValue: code)))
            return query
        }
        unsafe query.request = request
        loop.onStop(ObjectIdentifier(query)) { query.loopStops() }
        return query
    }
}
