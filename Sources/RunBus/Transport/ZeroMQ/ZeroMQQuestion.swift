#if ZeroMQ && canImport(CZMQ)
  import CZMQ
  import Logging
  import RunCore

  /// One message to a ``ZeroMQResponder`` and its answer, on a loop of its own.
  actor ZeroMQQuestion {
    nonisolated private let loop: Loop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var source: SocketSource?
    private var timer: LoopTimer?
    private var waiting: CheckedContinuation<Result<[UInt8]?, RunBusError>, Never>?

    init(on loop: Loop) { self.loop = loop }

    /// Sends the bytes and waits for the first answer; `nil` when none arrives in time.
    func ask(
      _ bytes: [UInt8], at endpoint: String, within span: BusDuration
    ) async throws(RunBusError) -> [UInt8]? {
      do {
        try open(endpoint)
      } catch {
        throw RunBusError(.transport, "cannot ask at \(endpoint) (\(error))", cause: error)
      }
      // libzmq sends it when the connection is established.
      _ = source?.send([bytes])
      timer = loop.makeTimer { [weak self] in self?.assumeIsolated { $0.finish(.success(nil)) } }
      timer?.deadline = loop.now + span
      let result = await withTaskCancellationHandler {
        await withCheckedContinuation { waiting = $0 }
      } onCancel: {
        // Submitted, so that it runs after this turn, in which `waiting` is set.
        loop.submit {
          self.assumeIsolated { $0.finish(.failure(RunBusError(.closed, "the question was withdrawn"))) }
        }
      }
      return try result.get()
    }

    private func open(_ endpoint: String) throws(ZMQFailure) {
      let socket = try ZMQSocket(try ZMQContext(), type: ZMQ_DEALER)
      try ZMQOptions.applyControl(to: socket)
      try ZMQOptions.applyConnecting(to: socket)
      // Closing does not wait until the question is sent: after a time-out the answer is no longer wanted.
      try socket.set(ZMQ_LINGER, CInt(0))
      try socket.connect(endpoint)
      let log = Logger(label: "runbus.zeromq")
      source = try SocketSource(
        socket, on: loop, partsMax: 1,
        // A message of another shape than one part is no answer; the caller reports it like one that cannot be decoded.
        receive: { [weak self] message in
          self?.assumeIsolated { $0.finish(.success(message.count == 1 ? message[0] : [])) }
        }, fail: { log.error("a socket failed: \($0)") })
    }

    private func finish(_ result: Result<[UInt8]?, RunBusError>) {
      source?.close()
      source = nil
      timer = nil
      waiting?.resume(returning: result)
      waiting = nil
    }
  }
#endif
