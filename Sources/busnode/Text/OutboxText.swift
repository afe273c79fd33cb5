import RunBus

extension Sentence {
  /// The first 8 digits of an id, enough to tell a few items apart; `-` without an id.
  static func short(_ id: String?) -> String { id.map { String($0.prefix(8)) } ?? "-" }

  /// The items that wait, a line each under a heading.
  static func outbox(_ rows: [OutboxJSON]) -> [String] {
    let words = rows.map { row -> [String] in
      let receiver = row.receiverDeviceId ?? (row.place == .spool ? "the hub" : "-")
      let waiting = row.waitingSeconds.map { age($0) } ?? "-"
      let note = row.place == .spool ? "spool" : row.accepted ? "accepted" : ""
      return [row.deviceId, what(row), receiver, short(row.id), waiting, "\(row.tries)", note]
    }
    return Columns.lines(["DEVICE", "WHAT", "FOR", "ID", "WAITING", "TRIES", "NOTE"], words)
  }

  /// The messages in quarantine, a line each under a heading.
  static func quarantine(_ rows: [QuarantineJSON]) -> [String] {
    let words = rows.map { row -> [String] in
      let receiver = row.receiverDeviceId ?? "-"
      return [row.deviceId, row.name, receiver, short(row.id), "\(row.bytes)", age(row.ageSeconds), row.reason]
    }
    return Columns.lines(["DEVICE", "MESSAGE", "FOR", "ID", "BYTES", "SINCE", "REASON"], words)
  }

  /// The devices that the hub knows, a line each under a heading.
  static func peers(_ rows: [PeerJSON]) -> [String] {
    let words = rows.map { row -> [String] in
      let heard = row.heardAgeSeconds.map { "\(age($0)) ago" } ?? "never"
      let roundTrip = row.roundTripSeconds.map { "\(fixed($0 * 1000, 1)) ms" } ?? "-"
      let state = row.reachable ? "here" : "gone"
      return [row.deviceId, row.role, state, heard, roundTrip, "\(row.waiting)", "\(row.commandWatermark)"]
    }
    return Columns.lines(["DEVICE", "ROLE", "STATE", "HEARD", "ROUND TRIP", "WAITING", "COMMANDS"], words)
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
    case .command, .unknown, nil: row.what
    case .samples: "\(row.count) samples"
    case .message: "message \(row.what)"
    case .verdict: "verdict of \(row.what)"
    case .latest: "value of \(row.what)"
    }
  }
}
