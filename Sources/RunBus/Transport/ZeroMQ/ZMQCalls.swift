#if ZeroMQ && canImport(CZMQ)
  import CZMQ
  import SystemC

  /// A failed libzmq call and its errno.
  struct ZMQFailure: Error, CustomStringConvertible {
    let call: String
    let code: CInt
    var endpoint: String?

    /// A sentence about a lack of file descriptors; `nil` for other failures.
    var shortage: String? {
      [EMFILE, ENFILE].contains(code)
        ? "too many files are open, this process may have \(FileDescriptorBudget.limit): close some, or raise the limit (ulimit -n)"
        : nil
    }
    /// Whether the endpoint is malformed, as opposed to unreachable.
    var isAboutAddress: Bool { [EINVAL, EPROTONOSUPPORT, ENAMETOOLONG, ENODEV].contains(code) }
    var description: String {
      "\(call)\(endpoint.map { " " + $0 } ?? ""): \(String(cString: zmq_strerror(code)))"
    }
  }

  /// The result of a call that may have to wait.
  enum ZMQOutcome {
    case done
    /// Nothing to receive, or no room to send (EAGAIN).
    case notNow
    /// The receiver is not connected (EHOSTUNREACH).
    case unreachable
  }

  /// One part of a message.
  struct ZMQPart {
    let bytes: [UInt8]
    let hasMore: Bool
    /// Where it came from; stated of a message's last part only. libzmq 4.3.4 does not know it on a ROUTER's first part.
    let origin: ZMQOrigin
  }

  /// What libzmq knows of the connection on which a message came.
  struct ZMQOrigin {
    /// Whom the check of keys has let in; `nil` without keys.
    var userID: String?
    /// The file descriptor of the connection.
    var descriptor: CInt?
  }

  /// A whole message.
  struct ZMQMessage {
    var parts: [[UInt8]]
    var origin = ZMQOrigin()
  }

  /// A libzmq context, which owns I/O threads and sockets. All its sockets are closed before it.
  ///
  /// `@unchecked Sendable`: libzmq allows a context, and nothing else, on any thread.
  final class ZMQContext: @unchecked Sendable {
    fileprivate let handle: UnsafeMutableRawPointer

    init() throws(ZMQFailure) {
      // libzmq starts its threads with the first socket, and aborts the process when they find no file descriptors.
      guard FileDescriptorBudget.has(FileDescriptorBudget.forContext) else {
        throw ZMQFailure(call: "zmq_ctx_new", code: EMFILE)
      }
      guard let handle = zmq_ctx_new() else { throw ZMQFailure(call: "zmq_ctx_new", code: zmq_errno()) }
      self.handle = handle
      // For a thousand peers in one process, each with two sockets and a monitor for each, and some reserve.
      zmq_ctx_set(handle, ZMQ_MAX_SOCKETS, 16_383)
      zmq_ctx_set(handle, ZMQ_IO_THREADS, 1)
    }

    // Blocks at most as long as a closed socket lingers.
    deinit { while zmq_ctx_term(handle) != 0 && zmq_errno() == EINTR {} }
  }

  /// A libzmq socket, which is made, used and closed on one thread. This type contains every call of libzmq on a
  /// socket, and reads errno at once.
  struct ZMQSocket: ~Copyable {
    private var handle: UnsafeMutableRawPointer?
    // Keeps the context alive until the socket is closed: `zmq_ctx_term` blocks while a socket is open.
    private var context: ZMQContext?

    init(_ context: ZMQContext, type: CInt) throws(ZMQFailure) {
      self.context = context
      handle = zmq_socket(context.handle, type)
      guard handle != nil else { throw ZMQFailure(call: "zmq_socket", code: zmq_errno()) }
    }

    deinit { Self.end(handle) }

    /// Closes the socket, and the context with its last socket. Idempotent.
    mutating func close() {
      Self.end(handle)
      handle = nil
      context = nil
    }

    /// Stops the monitor first. An I/O thread that writes to a monitor without a reader would block for ever, and with
    /// it all sockets of the context.
    private static func end(_ handle: UnsafeMutableRawPointer?) {
      guard let handle else { return }
      zmq_socket_monitor(handle, nil, 0)
      zmq_close(handle)
    }

    func set(_ option: CInt, _ value: CInt) throws(ZMQFailure) {
      var value = value
      try check(zmq_setsockopt(handle, option, &value, MemoryLayout<CInt>.size), "zmq_setsockopt(\(option))")
    }
    func set(_ option: CInt, _ value: Int64) throws(ZMQFailure) {
      var value = value
      try check(zmq_setsockopt(handle, option, &value, MemoryLayout<Int64>.size), "zmq_setsockopt(\(option))")
    }
    func set(_ option: CInt, _ value: [UInt8]) throws(ZMQFailure) {
      try check(zmq_setsockopt(handle, option, value, value.count), "zmq_setsockopt(\(option))")
    }
    func set(_ option: CInt, _ value: String) throws(ZMQFailure) {
      try check(zmq_setsockopt(handle, option, value, value.utf8.count), "zmq_setsockopt(\(option))")
    }

    func bind(_ endpoint: String) throws(ZMQFailure) { try check(zmq_bind(handle, endpoint), "bind", endpoint) }
    func connect(_ endpoint: String) throws(ZMQFailure) {
      try check(zmq_connect(handle, endpoint), "connect", endpoint)
    }
    /// The outcome is ignored: it fails only when the connection is gone already.
    func disconnect(_ endpoint: String) { _ = zmq_disconnect(handle, endpoint) }
    func monitor(_ endpoint: String, events: CInt) throws(ZMQFailure) {
      try check(zmq_socket_monitor(handle, endpoint, events), "zmq_socket_monitor")
    }

    /// The value of a numeric option.
    func number(_ option: CInt) throws(ZMQFailure) -> CInt {
      var value: CInt = -1
      var size = MemoryLayout<CInt>.size
      try check(zmq_getsockopt(handle, option, &value, &size), "zmq_getsockopt(\(option))")
      return value
    }

    /// The descriptor to poll. It is edge-triggered: after every call on the socket there may be more to do.
    func descriptor() throws(ZMQFailure) -> CInt {
      try number(ZMQ_FD)
    }

    /// Which operations the socket is ready for. The call also makes it process the messages of its I/O thread.
    func events() throws(ZMQFailure) -> CInt {
      var value: CInt = 0
      var size = MemoryLayout<CInt>.size
      while zmq_getsockopt(handle, ZMQ_EVENTS, &value, &size) != 0 {
        let code = zmq_errno()
        guard code == EINTR else { throw ZMQFailure(call: "ZMQ_EVENTS", code: code) }
      }
      return value
    }

    /// The endpoint that the last bind has resolved to.
    func lastEndpoint() throws(ZMQFailure) -> String {
      var buffer = [UInt8](repeating: 0, count: 512)
      var size = buffer.count
      try check(zmq_getsockopt(handle, ZMQ_LAST_ENDPOINT, &buffer, &size), "ZMQ_LAST_ENDPOINT")
      return String(decoding: buffer.prefix(while: { $0 != 0 }), as: UTF8.self)
    }

    /// Sends one part; never blocks.
    func send(_ bytes: [UInt8], more: Bool = false) throws(ZMQFailure) -> ZMQOutcome {
      let flags = ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)
      while true {
        if zmq_send(handle, bytes, bytes.count, flags) >= 0 { return .done }
        let code = zmq_errno()
        switch code {
        case EINTR: continue
        case EAGAIN: return .notNow
        case EHOSTUNREACH: return .unreachable
        default: throw ZMQFailure(call: "zmq_send", code: code)
        }
      }
    }

    /// Receives one part, or `nil` when there is none now; never blocks.
    func receive() throws(ZMQFailure) -> ZMQPart? {
      var message = zmq_msg_t()
      zmq_msg_init(&message)
      defer { zmq_msg_close(&message) }
      while zmq_msg_recv(&message, handle, ZMQ_DONTWAIT) < 0 {
        let code = zmq_errno()
        switch code {
        case EINTR: continue
        case EAGAIN: return nil
        default: throw ZMQFailure(call: "zmq_msg_recv", code: code)
        }
      }
      let bytes = [UInt8](UnsafeRawBufferPointer(start: zmq_msg_data(&message), count: zmq_msg_size(&message)))
      let hasMore = zmq_msg_more(&message) != 0
      var origin = ZMQOrigin()
      if !hasMore {
        origin.userID = zmq_msg_gets(&message, "User-Id").map { String(cString: $0) }
        // What `zmq_msg_get(ZMQ_SRCFD)` reads, which is called deprecated without a replacement.
        origin.descriptor = zmq_msg_gets(&message, "__fd").map(atoi)
      }
      return ZMQPart(bytes: bytes, hasMore: hasMore, origin: origin)
    }

    /// Receives a whole message; `nil` when there is none now. Parts beyond `partsMax` are dropped. The result then has
    /// one part more than `partsMax`, so that it matches no expected shape.
    func receiveMessage(max partsMax: Int) throws(ZMQFailure) -> ZMQMessage? {
      guard var part = try receive() else { return nil }
      var parts = [part.bytes]
      while part.hasMore, let next = try receive() {
        part = next
        if parts.count <= partsMax { parts.append(next.bytes) }
      }
      return ZMQMessage(parts: parts, origin: part.origin)
    }

    /// The parts of ``receiveMessage(max:)``.
    func receiveParts(max partsMax: Int) throws(ZMQFailure) -> [[UInt8]]? { try receiveMessage(max: partsMax)?.parts }

    private func check(_ result: CInt, _ call: String, _ endpoint: String? = nil) throws(ZMQFailure) {
      guard result != 0 else { return }
      throw ZMQFailure(call: call, code: zmq_errno(), endpoint: endpoint)
    }
  }
#endif
