#if ZeroMQ && canImport(CZMQ)
  import Foundation
  import RunCore
  import TestSupport
  import Testing

  @testable import RunBus
  @testable import RunWire

  @Suite("A shell asks a running node at its admin socket")
  struct AdminSocketTests {
    private let watch: DeviceID
    private let widget: DeviceID
    init() throws {
      watch = DeviceID("watch")
      widget = DeviceID("widget")
    }

    /// Runs a test with a bus that has directories of its own.
    private func withBus(
      address: String? = nil, _ body: @Sendable (BusLocation) async throws -> Void
    ) async throws {
      try await withTestBus { test in
        let environment = ["XDG_RUNTIME_DIR": test.runtimeDirectory, "XDG_STATE_HOME": test.stateDirectory]
        try await body(BusLocation(bus: address == nil ? "a" : nil, address: address, environment: environment))
      }
    }
    private func opener(_ device: DeviceID, on bus: BusLocation) -> ZeroMQAdminSocketOpener {
      ZeroMQAdminSocketOpener(location: bus, device: device)
    }
    private func files(_ bus: BusLocation) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: bus.runtimeDirectory).sorted()
    }
    private func refusal(
      _ device: DeviceID, on bus: BusLocation, within span: BusDuration = .seconds(60)
    ) async -> RunBusError? {
      await #expect(throws: RunBusError.self) {
        _ = try await AdminClient.ask(.outbox, of: device, on: bus, within: span)
      }
    }

    @Test("Every question reaches the node and its answer comes back", arguments: [nil, "tcp://127.0.0.1:5570"])
    func questions(address: String?) async throws {
      try await withBus(address: address) { bus in
        let id = MessageID(high: 1, low: 2)
        let row = OutboxReport(kind: .command, id: id, what: "pause", receiver: nil, age: .seconds(3), tries: 0)
        let end = try AdminSocketEnd()
        try await end.open(opener(watch, on: bus)) { inquiry in
          switch inquiry {
          case .peers: .peers([])
          case .outbox: .outbox([row])
          case .quarantine: .quarantine([])
          case .cancel(let id), .retry(let id), .discard(let id): .done(id)
          case .report: .report(nil)
          case .route: .route(nil)
          case .series: .series(nil)
          case .recover: .done(nil)
          case .records: .records([], total: 0)
          case .record: .failed(.noRecord)
          case .editRecord, .removeRecord: .done(nil)
          case .putRecord: .taken(isKnown: true)
          case .post(let message, _): .done(message.id)
          case .devices: .devices(DeviceList(devices: [], version: 1, isBehind: false))
          case .orderDevice, .confirmDevices, .rotateKey, .backUp: .done(nil)
          case .room: .room(.reports([]))
          case .messages: .messages(.nothing)
          case .pairing: .pairing(PairingReport(stage: .open))
          case .unknown: .failed(.unknown)
          }
        }
        #expect(try mode(of: bus.runtimeDirectory) == 0o700)
        func check<Answer: Equatable>(_ question: Question<Answer>, _ answer: Answer) async throws {
          #expect(try await AdminClient.ask(question, of: watch, on: bus, within: .seconds(60)) == answer)
          #expect(end.asked.events.last == question.inquiry)
        }
        try await check(.peers, [])
        try await check(.outbox, [row])
        try await check(.quarantine, [])
        try await check(.retry(id), id)
        try await check(.report, nil)
        try await check(.route(from: 3), nil)
        try await check(.series, nil)
        try await check(.records(from: 2), RecordPage(kept: [], removed: [], total: 0))
        try await check(.post(AppMessage(id: id, name: "note", body: [1]), to: watch), id)
        try await check(.devices, DeviceList(devices: [], version: 1, isBehind: false))
        try await check(.pairing(.status(of: nil)), PairingReport(stage: .open))
        try await check(.take(ListenerID(high: 1, low: 2), .messages("note"), nil), nil)
        for order: Question<Void> in [.cancel(id), .discard(id), .recover(.finish), .confirmDevices] {
          try await AdminClient.ask(order, of: watch, on: bus, within: .seconds(60))
          #expect(end.asked.events.last == order.inquiry)
        }
        let missing = await #expect(throws: RunBusError.self) {
          try await AdminClient.ask(.record(RunID(high: 0, low: 1), from: 0), of: watch, on: bus, within: .seconds(60))
        }
        #expect(missing?.code == .notFound)
        #expect(missing?.failure == .noRecord)
        let endpoint = bus.adminEndpoint(for: watch)
        #expect(try await AdminClient.ask(.peers, at: endpoint, within: .seconds(60)) == [])
        await end.close()
        #expect(try files(bus) == [])
      }
    }

    @Test("Two devices have two admin sockets, also on one loop, and several shells ask at once")
    func twoDoors() async throws {
      try await withBus { bus in
        let loop = try Loop()
        let (first, second) = (try AdminSocketEnd(loop), try AdminSocketEnd(loop))
        try await first.open(opener(watch, on: bus)) { _ in .failed(InquiryFailure(.full, "watch")) }
        try await second.open(opener(widget, on: bus)) { _ in .failed(InquiryFailure(.full, "widget")) }
        let (watch, widget) = (watch, widget)
        try await withThrowingTaskGroup(of: Void.self) { group in
          for device in [watch, widget, watch, widget, watch, widget] {
            group.addTask {
              #expect(await refusal(device, on: bus, within: .seconds(60))?.failure == .init(.full, device.rawValue))
            }
          }
          try await group.waitForAll()
        }
        await first.close()
        #expect(try files(bus) == ["widget.door"])
        #expect(await refusal(watch, on: bus)?.code == .unreachable)
        #expect(await refusal(widget, on: bus, within: .seconds(60))?.failure == .init(.full, "widget"))
        await second.close()
      }
    }

    @Test("An answer may wait for a commit, and each shell gets its own")
    func later() async throws {
      try await withBus { bus in
        let end = try AdminSocketEnd()
        try await end.openForLater(opener(watch, on: bus))
        let id = MessageID(high: 1, low: 2)
        let watch = watch
        async let first = AdminClient.ask(
          .post(AppMessage(id: id, name: "a", body: []), to: nil), of: watch, on: bus, within: .seconds(60))
        async let second = AdminClient.ask(.retry(id), of: watch, on: bus, within: .seconds(60))
        try await end.asked.wait(for: "both questions") { $0.count == 2 ? true : nil }
        await end.answer(.done(id))
        let answers = try await [first, second]
        #expect(answers == [id, id])
        // An answer after the admin socket was closed is dropped.
        let third = Task { try await AdminClient.ask(.outbox, of: watch, on: bus, within: .milliseconds(500)) }
        try await end.asked.wait(for: "the third question") { $0.count == 3 ? true : nil }
        await end.close()
        await end.answer(.done(id))
        await #expect(throws: RunBusError.self) { _ = try await third.value }
      }
    }

    @Test("A message of another shape gets no answer, and a plain REQ after it is answered")
    func garbage() async throws {
      try await withBus { bus in
        let end = try AdminSocketEnd()
        try await end.open(opener(watch, on: bus)) { _ in .done(nil) }
        let endpoint = bus.adminEndpoint(for: watch)
        let question = AdminFrames.frame(Inquiry.peers)
        try await within("the answers") {
          let client = try RawAsker(RawAsker.dealer, at: endpoint)
          let wrong: [[[UInt8]]] = [
            [[]], [[], []], [[1], question], [[], question, []], [question, question], [[1], [2], [3], [4]],
          ]
          for message in wrong { try await client.send(message) }
          try await client.send([question])
          #expect(try await client.receive() == [AdminFrames.frame(InquiryAnswer.done(nil))])
          let script = try RawAsker(RawAsker.request, at: endpoint)
          try await script.send([question])
          #expect(try await script.receive() == [AdminFrames.frame(InquiryAnswer.done(nil))])
        }
        #expect(end.asked.events == [.peers, .peers])
        await end.close()
      }
    }

    @Test("A missing node is reported at once: no bus, no admin socket, or one that a killed node left")
    func nobody() async throws {
      try await withBus { bus in
        // With a deadline that is longer than the test may take.
        let never = BusDuration.seconds(3_600)
        #expect(await refusal(watch, on: bus, within: never)?.code == .unreachable)
        #expect(!FileManager.default.fileExists(atPath: bus.runtimeDirectory))
        try bus.prepareRuntimeDirectory()
        #expect(await refusal(watch, on: bus, within: never)?.code == .unreachable)
        try RawSocketFile.leave(at: bus.runtimeDirectory + "/watch.door")
        let error = await refusal(watch, on: bus, within: never)
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("watch on bus a") == true)
        // The next node replaces the socket that the killed one left.
        let end = try AdminSocketEnd()
        try await end.open(opener(watch, on: bus)) { _ in .done(nil) }
        try await AdminClient.ask(.confirmDevices, of: watch, on: bus, within: .seconds(60))
        await end.close()
      }
    }

    @Test("A node that listens but does not answer is unreachable after the deadline")
    func silence() async throws {
      try await withBus { bus in
        let end = try AdminSocketEnd()
        try await end.openForLater(opener(watch, on: bus))
        #expect(await refusal(watch, on: bus, within: .milliseconds(50))?.code == .unreachable)
        #expect(await refusal(watch, on: bus, within: .zero)?.code == .unreachable)
        await end.close()
        // A listener that does not speak ZMTP.
        let listener = try RawSocketFile.bound(bus.runtimeDirectory + "/watch.door", isListening: true)
        defer { close(listener) }
        #expect(await refusal(watch, on: bus, within: .milliseconds(50))?.code == .unreachable)
      }
    }

    @Test("A question can be cancelled")
    func cancelled() async throws {
      try await withBus { bus in
        let end = try AdminSocketEnd()
        try await end.openForLater(opener(watch, on: bus))
        let watch = watch
        let question = Task { try await AdminClient.ask(.outbox, of: watch, on: bus, within: .seconds(3_600)) }
        try await end.asked.wait(for: "the question") { $0.isEmpty ? nil : true }
        question.cancel()
        let error = await #expect(throws: RunBusError.self) { _ = try await question.value }
        #expect(error?.code == .closed)
        await end.close()
      }
    }

    @Test("A malformed answer is reported as malformed", arguments: [[], [1], [255, 255, 255, 255]] as [[UInt8]])
    func foreignAnswer(bytes: [UInt8]) async throws {
      try await withBus { bus in
        let end = try AdminSocketEnd()
        try await end.openRaw(opener(watch, on: bus), reply: bytes)
        #expect(await refusal(watch, on: bus)?.code == .wireMismatch)
        await end.close()
      }
    }

    @Test("An open admin socket is not replaced")
    func taken() async throws {
      try await withBus { bus in
        let (first, second) = (try AdminSocketEnd(), try AdminSocketEnd())
        try await first.open(opener(watch, on: bus)) { _ in .done(nil) }
        let error = await #expect(throws: RunBusError.self) {
          try await second.open(opener(watch, on: bus)) { _ in .failed(.unknown) }
        }
        #expect(error?.code == .addressInUse)
        try await AdminClient.ask(.confirmDevices, of: watch, on: bus, within: .seconds(60))
        await first.drop()
        #expect(try files(bus) == [])
      }
    }

    @Test("Another file at the path of the admin socket is not deleted")
    func foreignFile() async throws {
      try await withBus { bus in
        try bus.prepareRuntimeDirectory()
        let path = bus.runtimeDirectory + "/watch.door"
        try Data("precious".utf8).write(to: URL(filePath: path))
        let end = try AdminSocketEnd()
        let error = await #expect(throws: RunBusError.self) {
          try await end.open(opener(watch, on: bus)) { _ in .done(nil) }
        }
        #expect(error?.code == .transport)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
      }
    }

    @Test("Nobody asks in a directory that others may write to")
    func openDirectory() async throws {
      try await withBus { bus in
        let end = try AdminSocketEnd()
        try await end.open(opener(watch, on: bus)) { _ in .done(nil) }
        #expect(chmod(bus.runtimeDirectory, 0o777) == 0)
        #expect(await refusal(watch, on: bus)?.code == .unreachable)
        #expect(end.asked.events == [])
        await end.close()
      }
    }
  }
#endif
