#if ZeroMQ && canImport(CZMQ)
  import Foundation
  import RunCore
  import TestSupport
  import SystemC

  @testable import RunBus

  /// A node's admin socket with an actor around it, as a node has.
  actor AdminSocketEnd {
    nonisolated let loop: Loop
    nonisolated let asked = EventLog<Inquiry>()
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var socket: (any AdminSocket)?
    private var replies: [(InquiryAnswer) -> Void] = []

    init(_ loop: Loop? = nil) throws { self.loop = try loop ?? Loop() }

    /// Answers each question at once.
    func open(_ opener: any AdminSocketOpener, answer: @escaping @Sendable (Inquiry) -> InquiryAnswer) throws {
      let asked = asked
      socket = try opener.open(on: loop) {
        asked.append($0)
        return answer($0)
      }
    }
    /// Keeps the questions until ``answer(_:)``.
    func openForLater(_ opener: any AdminSocketOpener) throws {
      socket = try opener.open(
        on: loop,
        answerLater: { [weak self] inquiry, reply in
          self?.assumeIsolated {
            $0.replies.append(reply)
            $0.asked.append(inquiry)
          }
        })
    }
    /// Says the same to everything.
    func openRaw(_ opener: any AdminSocketOpener, reply bytes: [UInt8]) throws {
      socket = try opener.open(
        on: loop,
        receive: { _, reply in
          reply(bytes)
          return true
        })
    }
    func answer(_ answer: InquiryAnswer) {
      for reply in replies { reply(answer) }
      replies = []
    }
    func close() {
      socket?.close()
      socket?.close()
    }
    func drop() { socket = nil }
  }

  /// Somebody at a socket who is no asker of this version.
  struct RawAsker: ~Copyable {
    /// The numbers of the socket types (zmq.h), which tests do not import.
    static let request: CInt = 3
    static let dealer: CInt = 5
    private var socket: ZMQSocket

    init(_ type: CInt, at endpoint: String) throws {
      let socket = try ZMQSocket(ZMQContext(), type: type)
      try socket.set(17, CInt(0))  // ZMQ_LINGER
      try socket.connect(endpoint)
      self.socket = socket
    }
    func send(_ parts: [[UInt8]]) async throws {
      for (index, part) in parts.enumerated() {
        while true {
          if case .done = try socket.send(part, more: index < parts.count - 1) { break }
          try Task.checkCancellation()
          await Task.yield()
        }
      }
    }
    func receive() async throws -> [[UInt8]] {
      while true {
        if let parts = try socket.receiveParts(max: 8) { return parts }
        try Task.checkCancellation()
        await Task.yield()
      }
    }
  }

  /// A plain socket file, without ZeroMQ.
  enum RawSocketFile {
    /// A file that nobody listens at, as a killed node leaves it.
    static func leave(at path: String) throws { close(try bound(path, isListening: false)) }

    /// A listener that takes connections and says nothing; close its descriptor.
    static func bound(_ path: String, isListening: Bool) throws -> CInt {
      #if canImport(Glibc)
        let stream = CInt(SOCK_STREAM.rawValue)
      #else
        let stream = SOCK_STREAM
      #endif
      let descriptor = socket(AF_UNIX, stream, 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      guard result == 0, !isListening || listen(descriptor, 8) == 0 else {
        close(descriptor)
        throw CocoaError(.fileWriteUnknown)
      }
      return descriptor
    }
  }
#endif
