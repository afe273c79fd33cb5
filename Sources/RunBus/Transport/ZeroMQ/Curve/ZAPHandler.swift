#if ZeroMQ && canImport(CZMQ)
  import CZMQ
  import CoreMetrics
  import Logging
  import RunCore
  import Synchronization
  import SystemC

  /// Answers libzmq's question whether a key may connect (ZAP, RFC 27). One handler serves all hubs of a process: each
  /// listener has a domain of its own. It runs on a loop of its own, so that no node's work delays a handshake.
  final class ZAPHandler: Sendable {
    /// Fixed by the RFC.
    private static let endpoint = "inproc://zeromq.zap.01"
    private static let refusals = Counter(.refusedKeys)
    /// For how many keys a refusal is logged.
    private static let loggedMax = 64

    private let domains: Mutex<[String: AdmittedKeys]>
    private let lastDomain = Atomic<UInt64>(0)
    private let loop: Loop

    /// Binds the handler. Call it before any socket of the context binds with keys.
    init(in context: ZMQContext) throws(ZMQFailure) {
      domains = Mutex([:])
      do { loop = try Loop() } catch { throw ZMQFailure(call: "start the thread that checks keys", code: EAGAIN) }
      let socket = try ZMQSocket(context, type: ZMQ_ROUTER)
      try socket.set(ZMQ_LINGER, CInt(0))
      try socket.bind(Self.endpoint)
      let box = SocketBox(socket)
      loop.submit { [self] in start(box.take()) }
    }

    /// Carries the socket to the loop's thread. Unchecked: taken once, after it was set.
    private final class SocketBox: @unchecked Sendable {
      private var socket: ZMQSocket?
      init(_ socket: consuming ZMQSocket) { self.socket = consume socket }
      func take() -> ZMQSocket { socket.take()! }
    }

    /// Lets a list of keys decide about a new domain.
    ///
    /// - Returns: The name of the domain, for `ZMQ_ZAP_DOMAIN`.
    func open(_ keys: AdmittedKeys) -> String {
      let name = "runbus-\(lastDomain.add(1, ordering: .relaxed).newValue)"
      domains.withLock { $0[name] = keys }
      return name
    }

    /// Ends a domain: no key is let in any more.
    func close(_ domain: String) { domains.withLock { $0[domain] = nil } }

    private func start(_ socket: consuming ZMQSocket) {
      let log = Logger(label: "runbus.zeromq")
      let box = SourceBox()
      var logged: Set<[UInt8]> = []
      let receive: ([[UInt8]]) -> Void = { parts in
        guard let request = Request(parts) else { return }
        let identity = request.key.flatMap { self.decide(request.domain, $0) }
        if identity == nil {
          Self.refusals.increment()
          if logged.count < Self.loggedMax, logged.insert(request.credentials).inserted {
            log.warning("a device with an unknown key was refused (\(request.address)); more of it is only counted")
          }
        }
        _ = box.source?.send(request.answer(letsIn: identity))
      }
      // Without the handler libzmq lets no key in.
      let fail: (ZMQFailure) -> Void = { log.error("the check of keys fails, and no key is let in: \($0)") }
      do {
        box.source = try SocketSource(socket, on: loop, partsMax: 16, receive: receive, fail: fail)
      } catch {
        fail(error)
      }
    }

    private final class SourceBox { var source: SocketSource? }

    private func decide(_ domain: String, _ key: KeyFingerprint) -> ConnectionIdentity? {
      guard let keys = domains.withLock({ $0[domain] }), keys.contains(key) else { return nil }
      return keys.isOpen ? .candidate(key) : .key(key)
    }

    /// A request as the RFC lays it out, behind the route of the socket that asks.
    private struct Request {
      let route: [[UInt8]]
      let number: [UInt8]
      let domain: String
      let address: String
      let mechanism: String
      let credentials: [UInt8]

      init?(_ parts: [[UInt8]]) {
        guard parts.count >= 8, let gap = parts.firstIndex(of: []), parts.count >= gap + 7 else { return nil }
        route = Array(parts[...gap])
        let body = parts[(gap + 1)...].map(\.self)
        number = body[1]
        domain = String(decoding: body[2], as: UTF8.self)
        address = String(decoding: body[3], as: UTF8.self)
        mechanism = String(decoding: body[5], as: UTF8.self)
        credentials = body.count > 6 ? body[6] : []
        guard String(decoding: body[0], as: UTF8.self) == "1.0" else { return nil }
      }

      /// The key, if the client has proved one.
      var key: KeyFingerprint? { mechanism == "CURVE" ? KeyFingerprint(credentials) : nil }

      /// 200 with the identity as User-Id, or 400. Other codes make some clients hang.
      func answer(letsIn identity: ConnectionIdentity?) -> [[UInt8]] {
        let words =
          identity.map { ["200", "OK", $0.description] } ?? ["400", "this key is not paired", ""]
        return route + [Array("1.0".utf8), number] + words.map { Array($0.utf8) } + [[]]
      }
    }
  }
#endif
