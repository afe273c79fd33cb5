import Foundation
import RunBus
import RunScripts

/// A listener at a running node of this machine. It takes messages, or questions, in the place of the node's app, one at
/// a time.
struct Listener: Sendable {
  let device: DeviceID
  let location: BusLocation
  let topic: ListenerTopic
  /// Whether it ends when its standard output loses its reader.
  let endsWithReader: Bool
  private let id = ListenerID.random()

  init(at device: DeviceID, on location: BusLocation, _ topic: ListenerTopic, endsWithReader: Bool) {
    (self.device, self.location, self.topic, self.endsWithReader) = (device, location, topic, endsWithReader)
  }

  typealias Handler = @Sendable (HandedMessage) async throws -> ListenerReport.Outcome
  private enum Part: Sendable { case ended, readerIsGone, signal(Int32) }

  /// How long another listener, which may be gone already, is waited for.
  private static let turnPatience = Duration.seconds(9)
  /// How long a node that is well takes beside the time for which it lets a question wait.
  private static let patience = BusDuration.seconds(5)

  /// Passes messages to `handle` until `countMax` of them are processed, or Ctrl-C.
  ///
  /// - Throws: ``QuietExit`` with 128 plus the number of a signal, ``QuietExit/pipeClosed`` when the reader of standard
  ///   output has gone, ``Failure`` with 69 when the node does not run or has ended and with 75 when it has no room.
  func run(countMax: Int?, _ handle: @escaping Handler) async throws {
    // A second one would leave the command of `--exec` running. It ends within seconds.
    let signals = Signals.stream(times: .max)
    let readerIsGone = endsWithReader ? StandardDescriptors.readerIsGone() : AsyncStream { $0.finish() }
    let part: Part
    do {
      part = try await withThrowingTaskGroup(of: Part?.self) { group in
        group.addTask {
          try await serve(countMax: countMax, handle)
          return .ended
        }
        group.addTask {
          for await signal in signals { return .signal(signal) }
          return nil
        }
        group.addTask {
          for await _ in readerIsGone { return .readerIsGone }
          return nil
        }
        defer { group.cancelAll() }
        while let part = try await group.next() {
          if let part { return part }
        }
        return .ended
      }
    } catch {
      await leave()
      throw error
    }
    if case .ended = part { return }
    await leave()
    if case .signal(let number) = part { throw QuietExit(exitStatus: 128 + number) }
    throw QuietExit.pipeClosed
  }

  /// Tells the node, so that it gives back at once what this listener has not finished.
  private func leave() async {
    _ = try? await AdminClient.ask(.leave(id, nil), of: device, on: location, within: .seconds(1))
  }

  private func serve(countMax: Int?, _ handle: @escaping Handler) async throws {
    var held = try await register()
    Output.complain("busnode: " + Tongue.say(.listeningAt, ["device": device]))
    var (count, report) = (0, ListenerReport?.none)
    while true {
      do {
        if held == nil { held = try await ask(.take(id, topic, report)) }
        report = nil
        guard let next = held else { continue }
        held = nil
        let outcome = try await whileTelling(next.number) { try await handle(next) }
        report = ListenerReport(next.number, outcome)
        if case .failed(let reason) = outcome { complain(of: next, reason) } else { count += 1 }
        guard count == countMax else { continue }
        _ = try await ask(.leave(id, report))
        return
      } catch let error as RunBusError where error.failure?.code == .tooLate {
        Output.complain("busnode: \(error.message)")
        report = nil
        held = try await register()
      }
    }
  }

  /// Registers this listener. The place of one that is gone is free a few seconds later.
  ///
  /// - Returns: a message that the node has given it already.
  private func register() async throws -> HandedMessage? {
    let deadline = ContinuousClock.now + Self.turnPatience
    while true {
      do {
        return try await ask(.take(id, topic, nil))
      } catch let error as RunBusError where error.failure?.code == .alreadyHandled {
        guard ContinuousClock.now < deadline else {
          throw Failure(code: "alreadyHandled", message: error.message, exitStatus: ExitStatus.busHeld)
        }
        try await Task.sleep(for: .milliseconds(200))
      }
    }
  }

  /// Does something with a message, and tells the node every second that it is at work.
  private func whileTelling(
    _ number: UInt64, _ body: @escaping @Sendable () async throws -> ListenerReport.Outcome
  ) async throws -> ListenerReport.Outcome {
    try await withThrowingTaskGroup(of: ListenerReport.Outcome.self) { group in
      group.addTask { try await body() }
      group.addTask {
        while true {
          try await Task.sleep(for: .seconds(1))
          _ = try await ask(.take(id, topic, ListenerReport(number, .working)))
        }
      }
      defer { group.cancelAll() }
      // The second task never returns a value.
      return try await group.next() ?? .failed("it was withdrawn")
    }
  }

  private func ask(_ question: Question<HandedMessage?>) async throws -> HandedMessage? {
    do {
      return try await AdminClient.ask(
        question, of: device, on: location, within: ListenerTable.questionMax + Self.patience)
    } catch {
      guard error.failure?.code == .closed else { throw error }
      throw Failure(code: "unreachable", message: "\(device): \(error.message)", exitStatus: ExitStatus.noBus)
    }
  }

  private func complain(of message: HandedMessage, _ reason: String) {
    let what = "\(message.received.message.name) \(Sentence.short(message.received.message.id.description))"
    Output.complain(
      "busnode: " + Tongue.say(.handlingFailed, ["what": what, "device": message.received.from, "reason": reason]))
  }
}

extension ShellCommand {
  /// What the environment of a message's command says. The body is on its standard input only: arguments and
  /// environment can be read by others.
  static func variables(_ received: ReceivedMessage, at device: DeviceID, on location: BusLocation) -> [String: String?]
  {
    let isAddress = location.isAddress
    var key: String?
    if case .latest(let name) = received.deliveryClass { key = name }
    return [
      "RUNBUS_BUS": isAddress ? nil : location.displayName, "RUNBUS_ADDRESS": isAddress ? location.displayName : nil,
      "RUNBUS_INSECURE": isAddress ? "1" : nil, "RUNBUS_DEVICE": device.rawValue,
      "RUNBUS_MESSAGE_NAME": received.message.name, "RUNBUS_MESSAGE_ID": received.message.id.description,
      "RUNBUS_MESSAGE_FROM": received.from.rawValue, "RUNBUS_MESSAGE_CLASS": received.deliveryClass.word,
      "RUNBUS_MESSAGE_KEY": key,
    ]
  }
}
