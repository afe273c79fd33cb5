#if ZeroMQ && canImport(CZMQ)
  import Foundation
  import RunCore
  import TestSupport
  import Testing
  import SystemC

  @testable import RunBus

  @Suite("ZeroMQ")
  struct ZeroMQTests {
    /// The numbers of the socket types (zmq.h), which tests do not import.
    private static let request: CInt = 3
    private static let dealer: CInt = 5
    private static let subscriberX: CInt = 10

    @Test("A plain REQ gets its answer after the empty delimiter, repeatedly")
    func request() async throws {
      try await TransportKind.ipc.withPlace { place in
        let hub = try await place.hub()
        await hub.echo()
        let endpoint = await hub.controlEndpoint
        try await within("the answers") {
          let client = try RawClient(ZMQSocket(ZMQContext(), type: Self.request))
          try client.connect(endpoint)
          for number in 1...3 as ClosedRange<UInt8> {
            try await client.send([[number]])
            #expect(try await client.receive() == [[number]])
          }
        }
        #expect(hub.log.frames.map(\.connection.isRequest) == [true, true, true])
        await hub.close()
      }
    }

    @Test("Malformed multipart messages change nothing, not even for their sender")
    func garbage() async throws {
      try await TransportKind.ipc.withPlace { place in
        let hub = try await place.hub()
        await hub.echo()
        let endpoint = await hub.controlEndpoint
        try await within("the answer") {
          let client = try RawClient(ZMQSocket(ZMQContext(), type: Self.dealer))
          try client.connect(endpoint)
          let wrong: [[[UInt8]]] = [
            [[]], [[], []], [[], [], [1]], [[1], [2]], [[1], []], [[], [1], [2]], [[1], [2], [3], [4], [5], [6]],
          ]
          for message in wrong { try await client.send(message) }
          try await client.send([[7]])
          #expect(try await client.receive() == [[7]])
        }
        #expect(hub.log.frames.map(\.bytes) == [[7]])
        await hub.close()
      }
    }

    @Test("Malformed subscriptions on the events socket change nothing; an empty one subscribes to all topics")
    func eventsGarbage() async throws {
      try await TransportKind.ipc.withPlace { place in
        let hub = try await place.hub()
        let endpoint = await hub.eventsEndpoint
        try await within("the event") {
          let client = try RawClient(ZMQSocket(ZMQContext(), type: Self.subscriberX))
          try client.connect(endpoint)
          for message in [[[9, 9]], [[]], [[1, 0xff, 0xfe]], [[0, 1]], [[5], [6]], [[1]]] as [[[UInt8]]] {
            try await client.send(message)
          }
          try await hub.log.subscriptions(1, to: .snapshots)
          try await hub.log.subscriptions(1, to: .feed)
          await hub.publish([4], on: .feed)
          #expect(try await client.receive() == [Array("f".utf8), [4]])
        }
        // One of them is a subscription, of a topic that does not exist, and one has too many parts.
        #expect(hub.log.events.count == Topic.allCases.count + 2)
        #expect(hub.log.events.contains { if case .burden(.manyParts, _) = $0 { true } else { false } })
        #expect(hub.log.events.contains { if case .burden(.unknownTopic, _) = $0 { true } else { false } })
        await hub.close()
      }
    }

    @Test("A frame above the size limit closes only its sender's connection")
    func tooLong() async throws {
      try await TransportKind.tcp.withPlace { place in
        let (hub, peer) = try await place.pair()
        await hub.echo()
        let endpoint = await hub.controlEndpoint
        try await within("the longest frame") {
          let client = try RawClient(ZMQSocket(ZMQContext(), type: Self.dealer))
          try client.connect(endpoint)
          try await client.send([[UInt8](repeating: 1, count: 65_537)])
          let longest = [UInt8](repeating: 2, count: 65_536)
          #expect(await peer.send(longest) == .sent)
          try await peer.log.frame(longest)
        }
        #expect(await peer.send([UInt8](repeating: 3, count: 65_537)) == .gone)
        #expect(!hub.log.frames.contains { $0.bytes.count > 65_536 })
        await peer.close()
        await hub.close()
      }
    }

    @Test("Bytes of another protocol do not disturb a hub")
    func strangers() async throws {
      try await TransportKind.ipc.withPlace { place in
        let (hub, peer) = try await place.pair()
        await hub.echo()
        for text in ["GET / HTTP/1.1\r\n\r\n", "\u{1}\u{0}", String(repeating: "\u{ff}", count: 500)] {
          try RawUnixSocket.send(Array(text.utf8), to: place.directory + "/control.sock")
          try RawUnixSocket.send(Array(text.utf8), to: place.directory + "/events.sock")
        }
        #expect(await peer.send([1]) == .sent)
        try await peer.log.frame([1])
        await peer.close()
        await hub.close()
      }
    }

    @Test("An impossible endpoint is named and leaves nothing behind")
    func badEndpoints() async throws {
      try await TransportKind.ipc.withPlace { place in
        let long = "ipc://" + place.directory + "/" + String(repeating: "x", count: 120)
        for endpoint in ["", "nonsense", "tcp://127.0.0.1", "carrier://pigeon", long] {
          let peer = PeerEnd(try Loop())
          let error = await #expect(throws: RunBusError.self, "\(endpoint)") {
            try await peer.connect(ZeroMQConnector(control: endpoint))
          }
          #expect(error?.code == .badInput, "\(endpoint)")
          let hub = HubEnd(try Loop())
          let refusal = await #expect(throws: RunBusError.self, "\(endpoint)") {
            try await hub.listen(
              ZeroMQListener(control: "ipc://" + place.directory + "/control.sock", events: endpoint))
          }
          #expect(refusal?.code == .transport, "\(endpoint)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory) == [])
      }
    }

    // Once broken: A watch never reached its phone again after one byte of the phone's greeting or of a frame's header
    // was changed on the way.
    @Test(
      "After a protocol violation a peer reconnects, for control and for events",
      arguments: [LinkFault.corrupt(.greeting(offset: 12), .down), .corrupt(.header, .down)])
    func violation(_ fault: LinkFault) async throws {
      try await TransportKind.tcp.withPlace { place in
        let hub = try await place.hub()
        await hub.echo()
        let ends = [await hub.controlEndpoint, await hub.eventsEndpoint]
        let proxies = try ends.map { try FaultProxy(before: try #require(UInt16($0.split(separator: ":")[2]))) }
        let peer = PeerEnd(try Loop())
        try await peer.connect(ZeroMQConnector(control: "tcp://127.0.0.1:\(proxies[0].port)"))
        try await peer.log.linkUp()
        await peer.subscribe(to: "tcp://127.0.0.1:\(proxies[1].port)", topics: [.snapshots])
        try await hub.log.subscriptions(1, to: .snapshots)

        for proxy in proxies { proxy.apply(fault) }
        // On a slow machine a connection can break by itself, and what was sent on it is lost.
        try await repeating {
          _ = await peer.send([1])
          await hub.publish([2], on: .snapshots)
        } until: {
          for proxy in proxies { try await proxy.effects.wait(for: "a violation") { $0.first } }
        }
        try await peer.log.linkUp(2)
        try await hub.log.subscriptions(2, to: .snapshots)
        try await repeating {
          _ = await peer.send([3])
          await hub.publish([4], on: .snapshots)
        } until: {
          try await peer.log.frame([3])
          try await peer.log.published([4])
        }
        await peer.close()
        await hub.close()
      }
    }

    @Test("A file that has replaced the socket meanwhile is left alone")
    func foreignFile() async throws {
      try await TransportKind.ipc.withPlace { place in
        let hub = try await place.hub()
        let path = place.directory + "/control.sock"
        try FileManager.default.removeItem(atPath: path)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
        await hub.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory) == ["control.sock"])
        try FileManager.default.removeItem(atPath: path)
      }
    }
  }

  /// A raw socket of somebody who is not a node.
  private struct RawClient: ~Copyable {
    private var socket: ZMQSocket
    init(_ socket: consuming ZMQSocket) throws {
      try socket.set(17, CInt(0))  // ZMQ_LINGER
      self.socket = socket
    }

    func connect(_ endpoint: String) throws { try socket.connect(endpoint) }

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

  /// A plain connection that sends bytes and closes.
  private enum RawUnixSocket {
    static func send(_ bytes: [UInt8], to path: String) throws {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
      #if canImport(Glibc)
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
      #else
        let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
      #endif
      defer { close(descriptor) }
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      try #require(result == 0)
      _ = write(descriptor, bytes, bytes.count)
    }
  }
#endif
