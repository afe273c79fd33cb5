import ArgumentParser
import Foundation
import RunBus

struct Pair: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pair",
    abstract: "Pair a device of another machine: print the line and the QR code that it reads.",
    discussion: """
        busnode phone --listen 'tcp://*:7070'  the hub listens for paired devices,
                                               beyond this machine
        busnode pair                           then, here: prints
                                               runbus://HOST:PORT/?k=...&t=... and a
                                               QR code
        busnode join --device watch-1          on the other machine: reads that line

      The line holds a token for one device, which is good for two minutes or until it is used. Both sides then show \
      six digits: compare them, and confirm the device's name and what it may press. Ctrl-C ends pairing.

      With --yes the device is paired without a question. Then whoever reads the line first is let in: keep it secret.

      A device keeps its key; busnode devices lists the paired ones and takes keys back. This command works on the \
      phone's own machine.

      EXIT STATUS:
        0   the device is paired
        1   it is not: the time was over, the person refused, too many wrong
            tokens came, another busnode pair took its place, or another
            device has the name of --as (with --yes and without --replace)
        64  --sources: a source that is not known, without --force; --as: a name
            that no device can have
        69  no phone of this bus runs on this machine
      """)

  @OptionGroup var bus: BusOptions

  @Option(help: ArgumentHelp("The host in the line: by which the other machine reaches this one.", valueName: "host"))
  var host: String?

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "The name under which the device is paired (default: the one that it wants, with a number when another device has it).",
      valueName: "name"))
  var name: DeviceID?

  @Option(
    help: ArgumentHelp(
      "What the device may press, such as watch,shell: any of \(SourceList.known) (default: what it asks for).",
      valueName: "sources"))
  var sources: SourceList?

  @Flag(help: "Take other words as --sources, too: sources that an app has of its own.")
  var force = false

  @Flag(help: "Pair the first device that shows the token, without a question.")
  var yes = false

  @Flag(help: "Take back the key of a device that has the name.")
  var replace = false

  @Flag(help: "Print no QR code.")
  var noQR = false

  @Flag(help: "Write JSON, one object a step.")
  var json = false

  func validate() throws {
    if json, !yes { throw ValidationError(Tongue.say(.jsonNeedsYes)) }
    if !force { try sources?.check() }
    if let reason = name?.reasonNotToPair { throw ValidationError("\(reason) (--as)") }
  }

  func run() async throws {
    bus.startLog()
    let location = try bus.hubLocation()
    let hub = try await LocalHub.find(at: location)
    try await checkName(hub)
    let report = try await refusing(code: "notPaired") { try await hub.ask(.pairing(.open)) }
    guard let offer = report.offer else { throw RunBusError(InquiryFailure.unknownAnswer) }
    let line = try line(of: offer)
    let signals = Signals.stream()
    try tell(line)
    let ended = try await withThrowingTaskGroup(of: Ending.self) { group in
      group.addTask { try await follow(hub, offer) }
      group.addTask {
        for await _ in signals { return .interrupted }
        return .interrupted
      }
      let first = try await group.next() ?? .interrupted
      group.cancelAll()
      return first
    }
    guard case .interrupted = ended else { return }
    _ = try? await hub.ask(.pairing(.close(of: offer.token)))
    throw Failure(
      code: "interrupted", message: Tongue.say(.pairingClosed), exitStatus: ExitStatus.interrupted)
  }

  /// Refuses what the hub would refuse only once a device has used the line.
  private func checkName(_ hub: LocalHub) async throws {
    guard name != hub.device else {
      throw Failure(
        code: "usage", message: Tongue.say(.pairPhoneName, ["device": hub.device]),
        exitStatus: ExitStatus.usage)
    }
    let list = try await hub.ask(.devices)
    // Without --yes the person is asked whether to replace.
    guard let reason = list.reasonNotToPair(as: name, replaces: replace || !yes) else { return }
    let isHeld = list.devices.contains { $0.deviceID == name && !$0.isRevoked }
    throw Failure(
      code: "notPaired", message: isHeld ? Tongue.say(.pairHeld, ["reason": reason]) : reason,
      exitStatus: ExitStatus.failure)
  }

  private enum Ending: Sendable { case paired, interrupted }

  private func line(of offer: PairingOffer) throws -> PairingLine {
    var authority = String((offer.addresses.first ?? "tcp://127.0.0.1").dropFirst("tcp://".count))
    if let host, let colon = authority.lastIndex(of: ":") {
      let bare = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
      authority = (bare.contains(":") ? "[\(bare)]" : bare) + authority[colon...]
      guard RemoteListener.parts(of: "tcp://\(authority)") != nil else {
        throw Failure(code: "usage", message: Tongue.say(.pairNoHost, ["host": host]), exitStatus: ExitStatus.usage)
      }
    }
    return PairingLine(authority: authority, hubKey: offer.hubKey, token: offer.token)
  }

  private func tell(_ line: PairingLine) throws {
    if json { return Output.tell(json: PairStepJSON(step: "open", line: line.text)) }
    Output.tell(Tongue.say(.pairOtherMachine))
    Output.tell(Tongue.say(.pairGiveLine))
    Output.tell("")
    Output.tell(line.text)
    Output.tell("")
    if yes { Output.tell(Tongue.say(.pairWithYes)) }
    let paper = Output.isTerminal ? QRCode.Paper(terminal: try Settings.terminalEnvironment()) : .light
    guard !noQR, let code = QRCode.lines(line.text, columns: Output.isTerminal ? Output.columns : nil, on: paper) else {
      return
    }
    for row in code { Output.tell(terminal: row) }
  }

  /// Waits for the device, asks the person, and tells the end.
  private func follow(_ hub: LocalHub, _ offer: PairingOffer) async throws -> Ending {
    while true {
      let report = try await refusing(code: "failure") { try await hub.ask(.pairing(.status(of: offer.token))) }
      switch report.stage {
      case .open: try await Task.sleep(for: .milliseconds(200))
      case .closed(.paired): return .paired
      case .closed(let end):
        throw Failure(code: "notPaired", message: Self.sentence(end), exitStatus: ExitStatus.failure)
      case .asking(let candidate): return try await decide(candidate, hub, offer)
      }
    }
  }

  private func decide(_ candidate: PairingCandidate, _ hub: LocalHub, _ offer: PairingOffer) async throws -> Ending {
    let digits = PairingDigits(hub: offer.hubKey, device: candidate.key, token: offer.token)?.description ?? ""
    let list = try await hub.ask(.devices)
    let name = name ?? (replace ? candidate.deviceID : list.free(like: candidate.deviceID, for: candidate.key))
    let sources = sources?.sources ?? candidate.sources
    let words = sources.map(\.rawValue).sorted().joined(separator: ", ")
    let isTaken = list.devices.contains { $0.deviceID == name && $0.key != candidate.key && !$0.isRevoked }
    if json {
      Output.tell(json: PairStepJSON(step: "asking", digits: digits, device: candidate.deviceID))
    } else {
      Output.tell(Tongue.say(.pairWants, ["role": candidate.role, "name": name, "sources": words]))
      Output.tell(Tongue.say(.pairDigits, ["digits": digits]))
      if self.name == nil, name != candidate.deviceID {
        Output.tell(
          Tongue.say(.pairOtherName, ["name": candidate.deviceID]))
      }
      if isTaken { Output.tell(Tongue.say(.pairTaken, ["name": name])) }
    }
    guard yes || Prompt.ask(Tongue.say(.pairAsk)) else {
      _ = try await hub.ask(.pairing(.refuse(candidate.key, of: offer.token)))
      throw Failure(code: "notPaired", message: Tongue.say(.pairRefused), exitStatus: ExitStatus.failure)
    }
    let replaces = replace || (isTaken && !yes)
    do {
      _ = try await refusing(code: "notPaired") {
        try await hub.ask(
          .pairing(.admit(candidate.key, of: offer.token, as: name, sources: sources, replaces: replaces)))
      }
    } catch let failure as Failure {
      _ = try? await hub.ask(.pairing(.refuse(candidate.key, of: offer.token)))
      throw failure
    }
    if json {
      Output.tell(json: PairStepJSON(step: "paired", device: name, key: candidate.key.description))
    } else {
      Output.tell(Tongue.say(.pairDone, ["name": name]))
    }
    return .paired
  }

  private static func sentence(_ end: PairingEnd) -> String {
    switch end {
    case .expired: Tongue.say(.pairExpired)
    case .tooManyFailures: Tongue.say(.pairGuessing)
    case .unavailable: Tongue.say(.pairUnavailable)
    case .refused: Tongue.say(.pairWasRefused)
    case .closed, .notOpened: Tongue.say(.pairWasClosed)
    case .replaced: Tongue.say(.pairReplaced)
    case .paired: Tongue.say(.pairIsPaired)
    }
  }
}

/// A step of `busnode pair --json`.
struct PairStepJSON: Codable, Hashable, Sendable {
  var step: String
  var line: String?
  var digits: String?
  var device: DeviceID?
  var key: String?
}

/// Sources as an argument: `watch,shell`.
struct SourceList: ExpressibleByArgument {
  let sources: Set<ControlSource>

  init?(argument: String) {
    let words = argument.split(separator: ",").map(String.init)
    guard (1...PairedDevice.sourcesMax).contains(words.count) else { return nil }
    sources = Set(words.map { ControlSource(argument: $0) ?? ControlSource(rawValue: $0) })
  }

  init(_ sources: Set<ControlSource>) { self.sources = sources }

  /// The sources that RunBus itself knows, as people write them.
  static let known = "phone, watch, live-activity (or widget), page, shell"

  /// Refuses sources that RunBus does not know: those of apps, or slips.
  func check() throws(ValidationError) {
    let unknown = sources.map(\.rawValue).filter { ControlSource(argument: $0) == nil && $0 != "page" }
    guard let word = unknown.min() else { return }
    throw ValidationError(
      Tongue.say(.sourceNotKnown, ["word": word, "known": Self.known]))
  }
}

/// A question to the person at the terminal.
enum Prompt {
  /// Asks, and returns whether the answer is yes. Without a terminal it is no.
  static func ask(_ text: String) -> Bool {
    guard StandardInput.isTerminal else {
      Output.complain("busnode: " + Tongue.say(.noTerminalToAsk))
      return false
    }
    return answer(text)?.lowercased().hasPrefix("y") ?? false
  }

  /// Asks, and returns the line that is typed.
  static func answer(_ text: String) -> String? {
    Output.prompt(text)
    return readLine()
  }
}

/// The hub of a bus on this machine, at its admin socket, or its store while it does not run.
struct LocalHub: Sendable {
  let location: BusLocation
  let device: DeviceID
  private let devices: LocalDevices

  /// Finds the hub.
  ///
  /// - Parameter runs: Whether it must run.
  /// - Throws: ``Failure`` with 69 when there is none.
  static func find(at location: BusLocation, runs: Bool = true) async throws -> LocalHub {
    let devices = LocalDevices(location: location)
    for device in try devices.all() {
      let list = try await unlessRefused {
        try await runs ? devices.askRunning(.devices, of: device) : devices.ask(.devices, of: device)
      }
      if case .some(.some) = list { return LocalHub(location: location, device: device, devices: devices) }
    }
    throw Failure(
      code: "noBus",
      message: (runs ? HubLock.holder(of: location) : nil).map {
        Tongue.say(.hubDoesNotAnswer, ["holder": $0.description, "bus": location.displayName])
      }
        ?? (runs
          ? Tongue.say(.noPhoneHere, ["bus": location.displayName])
          : Tongue.say(.noPhoneEver, ["bus": location.displayName])),
      exitStatus: ExitStatus.noBus)
  }

  /// Asks the hub.
  func ask<Answer>(_ question: Question<Answer>) async throws -> Answer {
    try await devices.ask(question, of: device)
  }

  /// Asks the hub what only one that runs can answer, and what may be asked again.
  ///
  /// - Throws: ``Failure`` with 6 when it gives no answer in time, and with 69 when it does not run any more.
  func askRunning<Answer>(_ question: Question<Answer>, within span: BusDuration) async throws -> Answer {
    let deadline = ContinuousClock.now + .nanoseconds(span.nanoseconds)
    repeat {
      if let answer = try await devices.askRunning(question, of: device) { return answer }
      guard HubLock.holder(of: location) != nil else { throw Failure.noBus(location) }
      try await Task.sleep(for: .milliseconds(100))
    } while ContinuousClock.now < deadline
    throw Failure(
      code: "noAnswer",
      message: Tongue.say(
        .hubNotAnswered, ["bus": location.displayName, "time": Sentence.seconds(max(span, LocalDevices.patience))]),
      exitStatus: ExitStatus.noVerdict)
  }
}
