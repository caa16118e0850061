import CoreModel
import Cryptography
import EventLoop
import TrackerProtocol
import WebSockets

/// The viewer's control connection: carries ``TrackerSession``'s decisions out over WebSockets. Confined to the loop.
final class TrackerClient {
    private let loop: EventLoop
    private let onEvent: (TrackerSession.Event) -> Void
    private var session: TrackerSession
    private var generator: SeededGenerator
    private var socket: (id: TrackerSession.ConnectionID, socket: WebSocket)?
    private var timer: LoopTimer?
    private var isDraining = false

    /// Makes a client that waits for ``start()``.
    init(
        loop: EventLoop, configuration: TrackerSession.Configuration,
        onEvent: @escaping (TrackerSession.Event) -> Void
    ) {
        self.loop = loop
        self.onEvent = onEvent
        session = TrackerSession(configuration: configuration)
        var random = SystemRandom()
        generator = SeededGenerator(seed: random.next())
        timer = LoopTimer(loop: loop) { [weak self] in self?.feed(.timeout) }
    }

    func start() { feed(.start) }

    /// Says goodbye and closes; no event comes after it.
    func stop() {
        feed(.stop)
        timer = nil
        socket?.socket.close()
        socket = nil
    }

    /// Takes what the next report says.
    func update(_ snapshot: ViewerSnapshot) { feed(.snapshot(snapshot)) }

    /// Asks for more peers.
    func wantPeers(_ count: Int) { feed(.wantPeers(count)) }

    private func feed(_ input: TrackerSession.Input) {
        guard timer != nil else { return }
        session.handle(input, now: loop.now, using: &generator)
        drain()
    }

    private func drain() {
        guard !isDraining else { return }
        isDraining = true
        defer { isDraining = false }
        while timer != nil {
            switch session.poll() {
            case .connect(let id, let url): connect(id, url)
            case .send(let id, let message):
                if socket?.id == id { socket?.socket.send(message) }
            case .close(let id):
                guard socket?.id == id else { continue }
                socket?.socket.close()
                socket = nil
            case .event(let event): onEvent(event)
            case .wait(let until):
                if let until { timer?.arm(at: until) } else { timer?.cancel() }
                return
            }
        }
    }

    private func connect(_ id: TrackerSession.ConnectionID, _ url: String) {
        do throws(WebSocketError) {
            let socket = try WebSocketClient.shared(by: loop).connect(to: url)
            self.socket = (id, socket)
            socket.onOpen = { [weak self] in self?.feed(.connected(id)) }
            socket.onMessage = { [weak self] message in self?.feed(.received(id, message)) }
            socket.onClose = { [weak self] reason in
                guard let self else { return }
                if self.socket?.id == id { self.socket = nil }
                feed(.disconnected(id, reason: reason))
            }
        } catch {
            session.handle(.disconnected(id, reason: error.description), now: loop.now, using: &generator)
        }
    }
}
