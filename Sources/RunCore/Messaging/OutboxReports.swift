// What a node says of its outbox and its quarantine.

extension OutboundStream {
  /// What waits, oldest first; samples are one line.
  func reports(for device: DeviceID?, at now: BusTime) -> [OutboxReport] {
    if id.kind == .samples {
      let count = rows.count { $0.item != nil }
      guard count > 0, let oldest = rows.first(where: { $0.item != nil }) else { return [] }
      return [
        OutboxReport(
          kind: .samples, id: nil, what: "samples", receiver: device, age: max(.zero, now - oldest.since),
          tries: oldest.tries, count: UInt64(count))
      ]
    }
    return rows.compactMap { row in
      guard let item = row.item else { return nil }
      let (kind, what) = item.label
      return OutboxReport(
        kind: kind, id: item.id, what: what, receiver: device, age: max(.zero, now - row.since), tries: row.tries,
        isAccepted: row.sequence <= acknowledged)
    }
  }
}

extension OutboxItem {
  /// What it is called where people look.
  var label: (OutboxReport.Kind, String) {
    switch self {
    case .command(let command): (.command, command.kind.rawValue)
    case .sample: (.samples, "sample")
    case .message(let message): (.message, message.name)
    case .verdict(let verdict): (.verdict, verdict.kind.rawValue)
    }
  }
}

extension Courier {
  /// What waits, messages and values.
  func reports(at now: BusTime) -> [OutboxReport] {
    stream.reports(for: device, at: now)
      + waitingValues.map { row in
        OutboxReport(
          kind: .latest, id: row.message.id, what: row.key, receiver: device, age: .zero, tries: 0)
      }
  }
}

extension QuarantinedMessage {
  /// It as one line of an answer.
  func report(receiver: DeviceID?, at now: BusTime) -> QuarantineReport {
    QuarantineReport(
      id: message.id, name: message.name, bytes: UInt64(message.body.count), receiver: receiver, reason: reason,
      age: max(.zero, now - since))
  }
}
