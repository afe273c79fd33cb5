// Reports of a node's outbox and quarantine.

extension OutboundStream {
  /// The rows that wait, oldest first; all samples are one report.
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
  /// The kind and the name of the item in a report.
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
  /// The messages and values that wait.
  func reports(at now: BusTime) -> [OutboxReport] {
    stream.reports(for: device, at: now)
      + waitingValues.map { row in
        OutboxReport(
          kind: .latest, id: row.message.id, what: row.key, receiver: device, age: .zero, tries: 0)
      }
  }
}

extension QuarantinedMessage {
  /// The report of this message.
  func report(receiver: DeviceID?, at now: BusTime) -> QuarantineReport {
    QuarantineReport(
      id: message.id, name: message.name, bytes: UInt64(message.body.count), receiver: receiver, reason: reason,
      age: max(.zero, now - since))
  }
}
