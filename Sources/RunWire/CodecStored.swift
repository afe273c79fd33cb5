package import RunCore
import SwiftProtobuf

// What a hub stores of commands: accepted ones, verdicts and settled windows.
extension Codec {
  /// Encodes an accepted command that waits for its verdict.
  package static func stored(_ press: AcceptedCommand, _ admission: Admission) -> [UInt8] {
    var message = self.message(press)
    message.admission = word(admission)
    return stored(message)
  }

  /// Reads an accepted command that waits for its verdict.
  package static func accepted(_ bytes: [UInt8]) throws(StoredError) -> (press: AcceptedCommand, admission: Admission) {
    let message: WireStoredCommand = try open(bytes)
    return try reading { () throws(WireError) in (try value(message), try value(message.admission)) }
  }

  /// An accepted command that waits in another way. Whatever else was stored of it stays.
  package static func readmitted(_ bytes: [UInt8], as admission: Admission) throws(StoredError) -> [UInt8] {
    var message: WireStoredCommand = try open(bytes)
    message.admission = word(admission)
    return stored(message)
  }

  /// Encodes a verdict with its command.
  package static func stored(_ verdict: Verdict, of press: AcceptedCommand, judgedAt: BusTime) -> [UInt8] {
    var message = WireStoredVerdict()
    message.command = self.message(press)
    message.verdict = self.message(verdict)
    message.judgedAtNs = StoredNumber.nanoseconds(judgedAt)
    return stored(message)
  }

  /// Reads a verdict with its command.
  package static func verdict(
    _ bytes: [UInt8]
  ) throws(StoredError) -> (verdict: Verdict, press: AcceptedCommand, judgedAt: BusTime) {
    let message: WireStoredVerdict = try open(bytes)
    return try reading { () throws(WireError) in
      guard message.hasVerdict else { throw .malformed("stored verdict that is none") }
      let press = try value(message.command)
      let verdict = try value(
        message.verdict, commandID: press.command.id, kind: press.command.kind, source: press.command.source)
      return (verdict, press, try storedMoment(message.judgedAtNs))
    }
  }

  /// Encodes a settled window.
  package static func stored(_ window: SettledWindow) -> [UInt8] {
    var message = WireStoredWindow()
    message.firstNs = StoredNumber.nanoseconds(window.first)
    message.deadlineNs = StoredNumber.nanoseconds(window.deadline)
    message.applied = window.applied.map { applied in
      var effect = WireStoredEffect()
      effect.kind = word(applied.kind)
      effect.commandID = data(applied.commandID)
      effect.runID = data(applied.runID)
      effect.revision = applied.revision
      effect.effectiveAtNs = StoredNumber.nanoseconds(applied.effectiveAt)
      return effect
    }
    return stored(message)
  }

  /// Reads a settled window.
  package static func window(_ bytes: [UInt8]) throws(StoredError) -> SettledWindow {
    let message: WireStoredWindow = try open(bytes)
    return try reading { () throws(WireError) in
      var applied: [SettledWindow.Applied] = []
      for effect in message.applied {
        applied.append(
          SettledWindow.Applied(
            kind: try known(effect.kind), commandID: try identifier(effect.commandID, "command id"),
            runID: try identifier(effect.runID, "run id"),
            revision: try storedRevision(effect.revision),
            effectiveAt: try storedMoment(effect.effectiveAtNs)))
      }
      return SettledWindow(
        first: try storedMoment(message.firstNs), deadline: try storedMoment(message.deadlineNs),
        applied: applied)
    }
  }

  /// The kind of a command that was stored.
  static func known(_ word: WireCommandKind) throws(WireError) -> CommandKind {
    if let kind = kind(word) { return kind }
    if case .UNRECOGNIZED = word { throw .unknown("a kind of command") }
    throw .malformed("command kind is missing")
  }

  private static func message(_ press: AcceptedCommand) -> WireStoredCommand {
    var message = WireStoredCommand()
    message.command = self.message(press.command)
    message.deviceID = press.deviceID.rawValue
    switch press.origin {
    case .ownButton: message.origin = .button
    case .store(let store):
      message.origin = .stream
      message.sender = data(store)
    case .request: message.origin = .request
    }
    message.sequence = press.sequence
    message.pressedAtNs = StoredNumber.nanoseconds(press.pressedAt)
    message.arrivedAtNs = StoredNumber.nanoseconds(press.arrivedAt)
    message.uncertain = press.isUncertain
    message.stopFollows = press.stopFollows
    return message
  }

  private static func value(_ message: WireStoredCommand) throws(WireError) -> AcceptedCommand {
    let origin: AcceptedCommand.Origin
    switch (message.origin, message.hasSender) {
    case (.button, false): origin = .ownButton
    case (.stream, true): origin = .store(try identifier(message.sender, "store id"))
    case (.request, false): origin = .request
    case (.UNRECOGNIZED, _): throw .unknown("an origin of a command")
    default: throw .malformed("stored command without its origin")
    }
    return AcceptedCommand(
      command: try value(message.command), deviceID: try device(message.deviceID), origin: origin,
      sequence: try counter(message.sequence, "sequence"), pressedAt: try storedMoment(message.pressedAtNs),
      arrivedAt: try storedMoment(message.arrivedAtNs), isUncertain: message.uncertain,
      stopFollows: message.stopFollows)
  }

  private static func word(_ admission: Admission) -> WireStoredAdmission {
    switch admission {
    case .window: .window
    case .next: .next
    case .late: .late
    case .held: .held
    }
  }

  private static func value(_ word: WireStoredAdmission) throws(WireError) -> Admission {
    switch word {
    case .window: return .window
    case .next: return .next
    case .late: return .late
    case .held: return .held
    case .unspecified: throw .malformed("stored command that does not wait")
    case .UNRECOGNIZED: throw .unknown("a way of waiting")
    }
  }
}
