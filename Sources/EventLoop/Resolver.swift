internal import CLibuv
public import CoreModel
internal import Glibc

/// Looks host names up on libuv's thread pool, without blocking the loop.
@safe public final class Resolver {
    /// The most addresses that one answer gives.
    public static let maximumAddressCount = 16

    private final class Query {
        var completion: ((Result<[NetworkAddress], LoopError>) -> Void)?
        let port: UInt16

        init(port: UInt16, completion: @escaping (Result<[NetworkAddress], LoopError>) -> Void) {
            self.port = port
            self.completion = completion
        }
    }

    private let loop: EventLoop

    /// Makes a resolver of the loop.
    public init(loop: EventLoop) { self.loop = loop }

    /// Looks up the addresses of `host`, in the system's order of preference.
    ///
    /// - Parameter completion: Called once, on the loop, never before this returns unless the call itself failed.
    public func resolve(
        _ host: String, port: UInt16, completion: @escaping (Result<[NetworkAddress], LoopError>) -> Void
    ) {
        loop.checkIsolated()
        if let address = NetworkAddress(numericHost: host, port: port), !host.isEmpty {
            completion(.success([address]))
            return
        }
        let query = Query(port: port, completion: completion)
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
                query.completion?(status < 0 ? .failure(LoopError(rawValue: status)) : .success(addresses))
            }, host, nil, &hints)
        if code < 0 {
            unsafe Unmanaged.passUnretained(query).release()
            unsafe request.deallocate()
            completion(.failure(LoopError(rawValue: code)))
        }
    }
}
