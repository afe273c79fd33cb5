import Logging
import RunCore

/// The keys of log lines, which stay the same from version to version.
enum LogKey: String, CaseIterable, Sendable {
  /// What happened, in a word: `begin`, `end`, `join`, `leave`, `refusal`, `verdict` or `slowCommit`.
  case event
  /// The device that it is about.
  case device
  /// Where the bus is.
  case bus
  /// The hub's term, which grows with each of its starts.
  case term
  /// The id of a command.
  case command
  /// What a command is to do.
  case kind
  /// Whose button it was.
  case source
  /// What a verdict says: `applied`, `coalesced`, `superseded`, or why the command was rejected.
  case outcome
  /// The revision of the state that reflects it.
  case revision
  /// The run.
  case run
  /// Why a sender was refused.
  case code
  /// How long it took.
  case seconds
}

extension Outcome {
  /// What a verdict says, in a word; why, for a rejected command. All reasons of later versions share one word, which
  /// bounds how many words there are.
  var summary: String {
    guard case .rejected(let reason) = self else { return word }
    if case .unknown = reason { return "unknown" }
    return reason.code
  }
}

// The log lines of a node. Level info shows begin and end, who joins and leaves, and verdicts; level debug shows presses
// too, and level trace each step between. docs/operating.md lists the lines with their keys.
extension Logger {
  /// Logs an action of a hub that is worth a line.
  func log(_ action: HubCore.Action) {
    switch action {
    case .publish(let event): log(event)
    case .room(.event(let room, let event)): debug("room \(room.description.prefix(8)): \(Self.words(event))")
    case .room(.warn(let room, let warning)): self.warning("room \(room.description.prefix(8)): \(warning.message)")
    default: break
    }
  }

  private static func words(_ event: RoomEvent) -> String {
    func short(_ member: MemberID) -> String { "member \(member.description.prefix(8))" }
    return switch event {
    case .entered(let who): "\(short(who)) has a place"
    case .ready(let who, let isReady): "\(short(who)) is \(isReady ? "ready" : "not ready")"
    case .here(let who, let isHere): "\(short(who)) is \(isHere ? "at the start" : "not at the start")"
    case .departed(let who, let how): "\(short(who)) has lost its place (\(how.rawValue))"
    case .owner(let who): "\(short(who)) is the owner"
    case .stage(let stage): "\(stage)"
    case .recorded(let who): "\(short(who)) has stated its record"
    case .disputed(let who): "\(short(who)) has read another history"
    }
  }

  private func log(_ event: BusEvent) {
    switch event {
    case .presence(let presence):
      info(
        "\(presence.deviceID) \(presence.isReachable ? "has joined" : "has left")",
        metadata: [.device: presence.deviceID, .event: presence.isReachable ? "join" : "leave"])
    case .command(let command, let device): debug("\(device) pressed \(Self.words(command))")
    case .receipt(let receipt, let device): log(receipt, of: device)
    case .snapshot(let state): trace("published \(Self.words(state.snapshot))")
    case .message(let message):
      debug("\(message.to) has processed message \(message.name) \(message.id) of \(message.from)")
    case .live(let message): trace("pushed \(message.push.number) (\(message.push.kind.rawValue)) to lock screens")
    case .room(let view): trace("showed room \(view.room.prefix(8)): \(view.stage.rawValue)")
    case .cue(let cue): debug("room \(cue.room.prefix(8)) cues \(cue.kind.rawValue)")
    case .route: break
    }
  }

  /// Logs a stage of a command.
  func log(_ receipt: Receipt, of device: DeviceID) {
    guard logLevel <= .info else { return }
    let name = "\(receipt.kind.rawValue) \(receipt.commandID) of \(device)"
    switch receipt.stage {
    case .queued: trace("\(name) is durable")
    case .pending: trace("\(name) has reached the hub")
    case .verdict(let verdict):
      var keys: [LogKey: any CustomStringConvertible] = [
        .event: "verdict", .device: device, .command: receipt.commandID, .kind: receipt.kind.rawValue,
        .source: receipt.source.rawValue, .outcome: verdict.outcome.summary, .revision: verdict.revision,
        .term: verdict.term,
      ]
      keys[.run] = verdict.runID
      info("\(name): \(verdict.message) (revision \(verdict.revision))", metadata: keys)
    }
  }

  /// Logs what happened, with its keys.
  func info(
    _ message: @autoclosure () -> Message, metadata: @autoclosure () -> [LogKey: any CustomStringConvertible]
  ) {
    log(level: .info, message(), metadata: Self.keyed(metadata()))
  }

  /// Logs what an operator should look at, with its keys.
  func warning(
    _ message: @autoclosure () -> Message, metadata: @autoclosure () -> [LogKey: any CustomStringConvertible]
  ) {
    log(level: .warning, message(), metadata: Self.keyed(metadata()))
  }

  private static func keyed(_ metadata: [LogKey: any CustomStringConvertible]) -> Metadata {
    Metadata(uniqueKeysWithValues: metadata.map { ($0.rawValue, "\($1.description)") })
  }

  /// Logs a snapshot that a peer has received.
  func log(_ snapshot: Snapshot) { trace("heard \(Self.words(snapshot))") }

  private static func words(_ command: Command) -> String {
    let run = command.runID.map { ", run \($0)" } ?? ""
    let base = command.base.map { ", having seen revision \($0.revision)" } ?? ""
    return "\(command.kind.rawValue) (\(command.id), on \(command.source.rawValue)\(run)\(base))"
  }

  private static func words(_ snapshot: Snapshot) -> String {
    "\(snapshot.order.term).\(snapshot.order.revision).\(snapshot.order.tick): \(snapshot.phase.rawValue)"
  }
}
