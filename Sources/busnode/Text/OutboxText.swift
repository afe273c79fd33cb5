import RunBus

extension Sentence {
  /// The first 8 digits of an id, enough to tell a few items apart; `-` without an id.
  static func short(_ id: String?) -> String { id.map { String($0.prefix(8)) } ?? "-" }

  /// The items that wait, a line each under a heading.
  static func outbox(_ rows: [OutboxJSON]) -> [String] {
    let words = rows.map { row -> [String] in
      let receiver = row.receiverDeviceId ?? (row.place == .spool ? Tongue.say(.theHub) : "-")
      let waiting = row.waitingSeconds.map { age($0) } ?? "-"
      let note = row.place == .spool ? Tongue.say(.noteSpool) : row.accepted ? Tongue.say(.noteAccepted) : ""
      return [row.deviceId, what(row), receiver, short(row.id), waiting, "\(row.tries)", note]
    }
    return Columns.lines(
      [
        Tongue.say(.headingDevice), Tongue.say(.headingWhat), Tongue.say(.headingFor), Tongue.say(.headingID),
        Tongue.say(.headingWaiting), Tongue.say(.headingTries), Tongue.say(.headingNote),
      ], words)
  }

  /// The messages in quarantine, a line each under a heading.
  static func quarantine(_ rows: [QuarantineJSON]) -> [String] {
    let words = rows.map { row -> [String] in
      let receiver = row.receiverDeviceId ?? "-"
      return [row.deviceId, row.name, receiver, short(row.id), "\(row.bytes)", age(row.ageSeconds), row.reason]
    }
    return Columns.lines(
      [
        Tongue.say(.headingDevice), Tongue.say(.headingMessage), Tongue.say(.headingFor), Tongue.say(.headingID),
        Tongue.say(.headingBytes), Tongue.say(.headingSince), Tongue.say(.headingReason),
      ], words)
  }

  /// The devices that the hub knows, a line each under a heading.
  static func peers(_ rows: [PeerJSON]) -> [String] {
    let words = rows.map { row -> [String] in
      let heard = row.heardAgeSeconds.map { Tongue.say(.heardAgo, ["age": age($0)]) } ?? Tongue.say(.heardNever)
      let roundTrip = row.roundTripSeconds.map { "\(fixed($0 * 1000, 1)) ms" } ?? "-"
      let state = row.reachable ? Tongue.say(.deviceHere) : Tongue.say(.deviceGone)
      return [row.deviceId, row.role, state, heard, roundTrip, "\(row.waiting)", "\(row.commandWatermark)"]
    }
    return Columns.lines(
      [
        Tongue.say(.headingDevice), Tongue.say(.headingRole), Tongue.say(.headingState), Tongue.say(.headingHeard),
        Tongue.say(.headingRoundTrip), Tongue.say(.headingWaiting), Tongue.say(.headingCommands),
      ], words)
  }

  /// How long something has waited: `12s`, `3m`, `2h`, `5d`.
  static func age(_ seconds: Double) -> String {
    switch seconds {
    case ..<60: "\(whole(max(0, seconds.rounded(.down))))s"
    case ..<3600: "\(whole((seconds / 60).rounded(.down)))m"
    case ..<86_400: "\(whole((seconds / 3600).rounded(.down)))h"
    default: "\(whole((seconds / 86_400).rounded(.down)))d"
    }
  }

  private static func what(_ row: OutboxJSON) -> String {
    switch OutboxReport.Kind(rawValue: row.kind) {
    case .command, .unknown, nil: CommandKind(rawValue: row.what)?.spoken ?? row.what
    case .samples: Tongue.say(.samplesMany, ["count": row.count])
    case .message: Tongue.say(.whatMessage, ["name": row.what])
    case .verdict: Tongue.say(.whatVerdict, ["name": row.what])
    case .latest: Tongue.say(.whatValue, ["name": row.what])
    }
  }
}
