#if ZeroMQ && canImport(CZMQ)
  import Foundation
  import RunCore
  import TestSupport
  import Testing

  @testable import RunBus
  @testable import RunWire

  @Suite("A node refuses at its admin socket what is no inquiry", .timeLimit(.minutes(2)))
  struct AdminRefusalTests {
    /// Frames that break the schema, or are no inquiry.
    private static func wrong() throws -> [[UInt8]] {
      let key = try #require(KeyFingerprint([UInt8](repeating: 7, count: 32)))
      let orders: [Inquiry] = [
        .orderDevice(key, .rename("clock")),
        .pairing(.admit(key, of: Array(repeating: 1, count: 16), as: "clock", sources: [.watch], replaces: false)),
      ]
      let illNamed = try orders.map { order in
        var bytes = AdminFrames.frame(order)
        // No name has a capital letter.
        bytes[try #require(bytes.firstRange(of: Array("clock".utf8))).lowerBound] = UInt8(ascii: "C")
        return bytes
      }
      return illNamed + [
        Codec.encode(PeerFrame(session: 0, sentAt: .zero, message: .query)),
        AdminFrames.frame(InquiryAnswer.done(nil)), [1], [255, 255, 255],
      ]
    }

    private static func code(in parts: [[UInt8]]) throws -> Refusal.Code? {
      let frame = try Codec.hubFrame(parts[parts.count - 1])
      #expect(frame.session == 0)
      guard case .refused(let refusal) = frame.message else { return nil }
      #expect(!refusal.message.isEmpty)
      return refusal.code
    }

    // Once broken: A plain REQ hung at the admin socket of a hub or a peer after an order that broke the schema, such
    // as a name with a capital letter, because what was no inquiry was counted and got no answer.
    @Test("Hub and peer answer with Refusal(malformed), to a DEALER and to a plain REQ, and go on")
    func malformed() async throws {
      try await withTestBus { test in
        let environment = ["XDG_RUNTIME_DIR": test.runtimeDirectory, "XDG_STATE_HOME": test.stateDirectory]
        let bus = BusLocation(bus: "a", environment: environment)
        func services(_ device: DeviceID) -> LocalServices {
          LocalServices(adminSocket: ZeroMQAdminSocketOpener(location: bus, device: device))
        }
        let inside = InProcessBus()
        let hub = Hub(
          configuration: HubConfiguration(deviceID: "phone"), listeners: [inside.listener], store: NodeStore(),
          loop: try Loop(), services: services("phone"))
        let peer = Peer(
          configuration: PeerConfiguration(deviceID: "watch", role: .watch), connector: inside.connector,
          store: NodeStore(), loop: try Loop(), services: services("watch"))
        let wrong = try Self.wrong()
        try await withRunning([hub, peer]) {
          for device in ["phone", "watch"] as [DeviceID] {
            try await within("the answers of \(device)") {
              let dealer = try RawAsker(RawAsker.dealer, at: bus.adminEndpoint(for: device))
              let script = try RawAsker(RawAsker.request, at: bus.adminEndpoint(for: device))
              for bytes in wrong {
                try await dealer.send([bytes])
                #expect(try Self.code(in: try await dealer.receive()) == .malformed)
                try await script.send([bytes])
                #expect(try Self.code(in: try await script.receive()) == .malformed)
              }
              try await script.send([AdminFrames.frame(Inquiry.quarantine)])
              #expect(try await script.receive() == [AdminFrames.frame(InquiryAnswer.quarantine([]))])
            }
          }
        }
      }
    }

    @Test("The client passes on why a node refused its question")
    func client() async throws {
      try await withTestBus { test in
        let environment = ["XDG_RUNTIME_DIR": test.runtimeDirectory, "XDG_STATE_HOME": test.stateDirectory]
        let bus = BusLocation(bus: "a", environment: environment)
        let end = try AdminSocketEnd()
        let refusal = HubFrame(session: 0, message: .refused(Refusal(code: .malformed, message: "a key has 32 bytes")))
        try await end.openRaw(ZeroMQAdminSocketOpener(location: bus, device: "watch"), reply: Codec.encode(refusal))
        let error = await #expect(throws: RunBusError.self) {
          _ = try await AdminClient.ask(.outbox, of: "watch", on: bus, within: .seconds(60))
        }
        #expect(error?.code == .wireMismatch)
        #expect(error?.message.contains("a key has 32 bytes") == true)
        await end.close()
      }
    }
  }
#endif
