// Dispatch sources are safe to use from any thread, but their protocols are not declared `Sendable` yet.
@preconcurrency import Dispatch
import Foundation
import SystemC

/// One connection of a browser: reads a request, sends the answer, and ends. All of it happens on the listener's queue.
///
/// `@unchecked Sendable`: what changes is only used on that queue.
///
/// - `reading` can go to: `answering` (the request is whole), `refusing` (it is none, or took too long), `closed`.
/// - `answering` can go to: `refusing`, `closed`.
/// - `refusing` sends what is left, lets the browser read it, and can go to: `closed`.
final class WebConnection: @unchecked Sendable {
  /// How long a request may take to arrive, and how long a browser may take to read the last bytes.
  private static let (requestPatience, goodbyePatience) = (
    DispatchTimeInterval.seconds(5), DispatchTimeInterval.seconds(1)
  )
  /// How long a viewer may read nothing of what waits for it.
  private static let readPatience = DispatchTimeInterval.seconds(30)

  private enum Stage { case reading, answering, refusing, closed }

  private let descriptor: Int32
  private let queue: DispatchQueue
  private let answer: @Sendable (WebRequest) async -> WebResponse
  private let refuse: @Sendable (Int, String) -> WebResponse
  private let ended: @Sendable () -> Void

  // Used on the queue only.
  private var stage = Stage.reading
  private var reader = RequestReader()
  private var outgoing = Data()
  private var sent: CheckedContinuation<Bool, Never>?
  private var task: Task<Void, Never>?
  private var input: (any DispatchSourceRead)?
  private var output: (any DispatchSourceWrite)?
  private var isOutputActive = false
  /// The browser sends nothing more: it has left, or closed its side once its request was sent.
  private var isInputOver = false
  private var isStreaming = false
  private var wantsHeadOnly = false
  /// Counts what the viewer has read, to see that it reads.
  private var progress = 0

  /// A connection for an accepted, non-blocking socket, which it closes in the end.
  ///
  /// - Parameters:
  ///   - answer: Answers a request.
  ///   - refuse: The answer to what is no request: status and reason.
  ///   - ended: Called on the queue when the socket is closed.
  init(
    _ descriptor: Int32, on queue: DispatchQueue, answer: @escaping @Sendable (WebRequest) async -> WebResponse,
    refuse: @escaping @Sendable (Int, String) -> WebResponse, ended: @escaping @Sendable () -> Void
  ) {
    (self.descriptor, self.queue) = (descriptor, queue)
    (self.answer, self.refuse, self.ended) = (answer, refuse, ended)
  }

  /// Begins to read.
  func start() {
    let open = DispatchGroup()
    let input = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    let output = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
    for source in [input, output] as [any DispatchSourceProtocol] {
      open.enter()
      source.setCancelHandler { open.leave() }
    }
    input.setEventHandler { [self] in receive() }
    output.setEventHandler { [self] in flush() }
    // A socket is closed after its sources are cancelled: its number could belong to another file then.
    open.notify(queue: queue) { [self] in
      _ = close(descriptor)
      ended()
    }
    (self.input, self.output) = (input, output)
    input.activate()
    queue.asyncAfter(deadline: .now() + Self.requestPatience) { [self] in
      if stage == .reading { end(refuse(408, "the request did not come in time")) }
    }
  }

  /// Ends the connection at once. Called on the queue.
  func cut() {
    guard stage != .closed else { return }
    stage = .closed
    task?.cancel()
    sent?.resume(returning: false)
    sent = nil
    // A source that sleeps runs no cancel handler, and must not be released.
    if !isOutputActive { output?.resume() }
    input?.cancel()
    output?.cancel()
    (input, output) = (nil, nil)
  }

  // MARK: Bytes in

  /// Reads all that has come. The end of a connection that comes right behind is not reported a second time.
  private func receive() {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    // What a browser sends without end waits for the next turn.
    for _ in 0..<8 where stage != .closed {
      let count = recv(descriptor, &bytes, bytes.count, 0)
      if count < 0 {
        if errno == EINTR { continue }
        if errno != EAGAIN { cut() }
        return
      }
      guard count > 0 else { return endInput() }
      if stage == .reading { read(bytes.prefix(count)) }
    }
  }

  private func endInput() {
    guard stage == .answering, !isStreaming else { return cut() }
    isInputOver = true
    input?.cancel()
  }

  private func read(_ bytes: some Sequence<UInt8>) {
    switch reader.read(bytes) {
    case .needsMore: break
    case .wantsContinue: send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    case .refused(let status, let reason): end(refuse(status, reason))
    case .complete(let request):
      stage = .answering
      wantsHeadOnly = request.method == "HEAD"
      task = Task { await self.give(await self.answer(request)) }
    }
  }

  // MARK: Bytes out

  private func give(_ response: WebResponse) async {
    switch response.body {
    case .data: queue.async { [self] in if stage == .answering { end(response) } }
    case .stream(let stream):
      guard await beginStream() else { return }
      guard await sendAndWait(response.head) else { return }
      for await data in stream { guard await sendAndWait(data) else { return } }
      queue.async { [self] in finish() }
    }
  }

  /// Notes that the answer is a stream; `false` when the browser has left.
  private func beginStream() async -> Bool {
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        isStreaming = true
        if isInputOver { cut() }
        continuation.resume(returning: stage == .answering)
      }
    }
  }

  /// Sends the last answer of the connection.
  private func end(_ response: WebResponse) {
    var data = response.head
    if case .data(let body) = response.body, !wantsHeadOnly { data += body }
    stage = .refusing
    send(data)
  }

  /// The answer is over.
  private func finish() {
    guard stage == .answering else { return }
    stage = .refusing
    flush()
  }

  /// Sends a part of a stream and waits until the viewer has taken it; `false` when the viewer has left.
  private func sendAndWait(_ data: Data) async -> Bool {
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        guard stage == .answering else { return continuation.resume(returning: false) }
        sent = continuation
        send(data)
      }
    }
  }

  private func send(_ data: Data) {
    outgoing += data
    flush()
  }

  private func flush() {
    guard stage != .closed else { return }
    while !outgoing.isEmpty {
      #if canImport(Darwin)
        let flags: Int32 = 0
      #else
        let flags = Int32(MSG_NOSIGNAL)
      #endif
      let count = outgoing.withUnsafeBytes { DispatchCall.send(descriptor, $0.baseAddress, $0.count, flags) }
      guard count > 0 else {
        guard count < 0, errno == EAGAIN || errno == EINTR else { return cut() }
        return waitForRoom()
      }
      progress += count
      outgoing = Data(outgoing.dropFirst(count))
    }
    if isOutputActive {
      output?.suspend()
      isOutputActive = false
    }
    sent?.resume(returning: true)
    sent = nil
    guard stage == .refusing else { return }
    guard !isInputOver else { return cut() }
    // The browser reads what is on its way and then closes. A socket that is closed with unread bytes would lose it.
    shutdown(descriptor, Int32(SHUT_WR))
    queue.asyncAfter(deadline: .now() + Self.goodbyePatience) { [self] in cut() }
  }

  private func waitForRoom() {
    if !isOutputActive {
      output?.resume()
      isOutputActive = true
    }
    let before = progress
    queue.asyncAfter(deadline: .now() + Self.readPatience) { [self] in
      if progress == before, !outgoing.isEmpty { cut() }
    }
  }
}

/// `send(2)` under a name that the connection does not use itself.
private enum DispatchCall {
  static func send(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    #if canImport(Glibc)
      Glibc.send(descriptor, bytes, count, flags)
    #elseif canImport(Musl)
      Musl.send(descriptor, bytes, count, flags)
    #else
      Darwin.send(descriptor, bytes, count, flags)
    #endif
  }
}
