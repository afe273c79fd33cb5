#if ZeroMQ && canImport(CZMQ)
  import RunCore
  import TestSupport
  import Testing
  import SystemC

  @testable import RunBus

  /// docs/security.md, "Limits": what a message without an end can take from the hub.
  @Suite("Messages without an end", .timeLimit(.minutes(2)))
  struct UnfinishedMessagesTests {
    private static func connection(_ number: CInt) -> TCPConnection {
      TCPConnection(descriptor: number, remote: [UInt8(number)])
    }
    private static let key = KeyFingerprint(Array(repeating: 7, count: KeyFingerprint.byteCount))!
    /// Connections of which so many bytes have come.
    private var unfinished = UnfinishedMessages()

    /// Looks; the connections to cut.
    private mutating func look(_ received: [UInt64?]) -> [CInt] {
      unfinished.look { received[Int($0.descriptor)] }.offences.map(\.connection.descriptor)
    }

    @Test("A connection is cut at the second look that finds too much on it since its last whole message")
    mutating func twoLooks() {
      let most = UnfinishedMessages.bytesMax
      for number in [0, 1, 2] as [CInt] { unfinished.open(Self.connection(number)) }
      #expect(look([most, most, 100]) == [])
      #expect(look([most + 1, most + 1, 100]) == [])
      // On 0 a whole message has come: what came before the look before it is not kept.
      unfinished.finish(on: 0, by: .anyone)
      #expect(look([most + 2, most + 2, 100]) == [1])
      #expect(look([2 * most, 3 * most, 100]) == [])
      // What comes together with a whole message counts, because parts of the next may follow it.
      unfinished.finish(on: 0, by: .anyone)
      #expect(look([4 * most, nil, 100]) == [])
      #expect(look([4 * most, nil, 100]) == [0])
    }

    @Test("An offence names who has sent whole messages on the connection, and nobody without one")
    mutating func identity() {
      for number in [0, 1] as [CInt] { unfinished.open(Self.connection(number)) }
      unfinished.finish(on: 0, by: .key(Self.key))
      _ = look([0, 0])
      let much = 2 * UnfinishedMessages.bytesMax
      #expect(unfinished.look { _ in much }.offences == [])
      let offences = unfinished.look { _ in much }.offences
      #expect(Set(offences.map(\.identity)) == [.key(Self.key), nil])
      #expect(unfinished.isEmpty)
    }

    // Once broken: Three nodes of one machine that had only listened for days would have been shut out for ten minutes:
    // libzmq's heartbeats counted as a message without an end, because what has come on a connection is no message.
    @Test("A connection on which heartbeats come for days is cut, and its sender is not to blame")
    mutating func heartbeats() {
      unfinished.open(Self.connection(0))
      unfinished.finish(on: 0, by: .key(Self.key))
      var offences: [UnfinishedMessages.Offence] = []
      var received: UInt64 = 1000
      while offences.isEmpty, received < 2 * UnfinishedMessages.bytesMax {
        offences = unfinished.look { _ in received }.offences
        received += 500
      }
      #expect(received > UnfinishedMessages.bytesMax)
      #expect(offences.map(\.connection) == [Self.connection(0)] && offences.map(\.identity) == [nil])
    }

    @Test("All connections together keep a bounded number of bytes: those with the most are cut")
    mutating func total() {
      let share = UnfinishedMessages.bytesMax
      let count = Int(UnfinishedMessages.totalMax / share) + 2
      for number in 0..<count { unfinished.open(Self.connection(CInt(number))) }
      let received = (0..<count).map { share - UInt64($0) }
      #expect(look(received) == [])
      #expect(look(received) == [0, 1])
      #expect(look(received) == [])
    }

    @Test("A connection that is gone, or whose number is another one's now, is forgotten")
    mutating func gone() {
      for number in [0, 1] as [CInt] { unfinished.open(Self.connection(number)) }
      unfinished.finish(on: 0, by: .anyone)
      #expect(look([500, 10]) == [])
      #expect(look([499, nil]) == [])
      #expect(unfinished.isEmpty)
    }

    // Once broken: A paired key, and while pairing was open anybody with the hub's public key, could make the phone's
    // memory grow by 60 MB a second, with messages without an end.
    @Test(
      "A connection that sends a message without an end is reported and cut; others go on",
      arguments: [("control", [2]), ("events", [1, 0xff])] as [(String, [UInt8])])
    func cut(_ socket: String, _ whole: [UInt8]) async throws {
      try await TransportKind.tcp.withPlace { place in
        let (hub, peer) = try await place.pair()
        let isControl = socket == "control"
        let client = try await RawZMTP(
          to: isControl ? hub.controlEndpoint : hub.eventsEndpoint, as: isControl ? "DEALER" : "SUB")
        client.send(whole)
        if isControl { try await hub.log.frame(whole) } else { try await hub.log.burdens(1, .unknownTopic) }
        let part = [UInt8](repeating: 7, count: isControl ? 60_000 : 500)
        for _ in 0...Int(UnfinishedMessages.bytesMax) / part.count { client.send(part, more: true) }
        try await hub.log.burdens(1, .manyParts)
        #expect(client.isCut())
        #expect(await peer.send([3]) == .sent)
        try await hub.log.frame([3])
        await peer.close()
        await hub.close()
      }
    }

    @Test("A whole message of more parts than a frame has counts at once")
    func manyParts() async throws {
      try await TransportKind.tcp.withPlace { place in
        let hub = try await place.hub()
        let endpoint = await hub.controlEndpoint
        try await within("the report") {
          let client = try ZMQSocket(try ZMQContext(), type: 5)
          try client.set(17, CInt(0))
          try client.connect(endpoint)
          while case .notNow = try client.send([1], more: true) { await Task.yield() }
          for _ in 0..<5 { _ = try client.send([1], more: true) }
          _ = try client.send([1])
          try await hub.log.burdens(1, .manyParts)
        }
        #expect(hub.log.frames.isEmpty)
        await hub.close()
      }
    }
  }

  extension EventLog<HubTransportEvent> {
    /// Waits until the hub was burdened so many times, by a connection without a key.
    func burdens(_ count: Int, _ burden: ConnectionBurden) async throws {
      try await wait(for: "\(burden)") { events in
        events.filter { if case .burden(burden, .anyone) = $0 { true } else { false } }.count >= count ? true : nil
      }
    }
  }

  /// A connection that writes the frames of ZMTP 3.0 (rfc.zeromq.org/spec/23) itself: libzmq sends no message before it
  /// has its end.
  private final class RawZMTP {
    private let descriptor: CInt

    init(to endpoint: String, as type: String) throws {
      #if canImport(Glibc)
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
      #endif
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = try #require(endpoint.split(separator: ":").last.flatMap { UInt16($0) }).bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      try #require(result == 0)
      let mechanism = Array("NULL".utf8) + [UInt8](repeating: 0, count: 16)
      write([0xff] + [UInt8](repeating: 0, count: 8) + [0x7f, 3, 0] + mechanism + [UInt8](repeating: 0, count: 32))
      let ready = [5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + [0, 0, 0, UInt8(type.utf8.count)]
      write([4, UInt8(ready.count + type.utf8.count)] + ready + Array(type.utf8))
      // libzmq ends a connection on which a message comes before its own greeting (64 bytes) and its READY are out.
      var answer = [UInt8](repeating: 0, count: 64 + ready.count)
      try #require(wait(for: POLLIN))
      let count = recv(descriptor, &answer, answer.count, CInt(MSG_WAITALL))
      try #require(count == answer.count)
    }

    /// Sends a part of a message.
    func send(_ part: [UInt8], more: Bool = false) {
      let size = withUnsafeBytes(of: UInt64(part.count).bigEndian) { Array($0) }
      write([more ? 3 : 2] + size + part)
    }

    /// Reads until the other side has ended the connection.
    func isCut() -> Bool {
      var bytes = [UInt8](repeating: 0, count: 4096)
      while wait(for: POLLIN) {
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count <= 0 { return count == 0 || errno == ECONNRESET }
      }
      return false
    }

    /// Whether the socket is ready within half a minute.
    private func wait(for events: CInt) -> Bool {
      var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
      return poll(&entry, 1, 30_000) == 1
    }

    private func write(_ bytes: [UInt8]) {
      var rest = bytes[...]
      while !rest.isEmpty, wait(for: POLLOUT) {
        let count = rest.withUnsafeBytes { writeSome(descriptor, $0) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }

    private func writeSome(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer) -> Int {
      #if canImport(Glibc)
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
      #else
        Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
      #endif
    }

    deinit { close(descriptor) }
  }
#endif
