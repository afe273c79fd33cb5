import RunCore

// Nodes of a later version: what they say and the other side does not know uses its place and blocks nothing.
extension World {
  /// Whether the hub does not know the kind of a command: every lap of the peer of a later version.
  func isUnknown(_ id: CommandID) -> Bool {
    presses[id].map { $0.peer == climate.laterPeer && $0.kind == .lap } ?? false
  }

  /// Whether the hub does not know the kind or the moment of a reading.
  func isUnknown(reading bpm: UInt64) -> Bool {
    bpm.isMultiple(of: 5) && climate.laterPeer.map { UInt64($0) == bpm / Self.readingsOfPeer } ?? false
  }

  /// What the hub reads of a frame from a peer of a later version.
  mutating func read(_ frame: PeerFrame, on connection: ConnectionID, by identity: ConnectionIdentity) -> HubCore.Event
  {
    if case .command(let transmission) = frame.message, isUnknown(transmission.command.id) {
      tally.count("command of an unknown kind")
      let reply = transmission.command.id.bytes
      return .unsupported(
        connection, UnsupportedCommand(session: frame.session, sequence: transmission.sequence, reply: reply),
        by: identity)
    }
    guard case .samples(var transmissions) = frame.message else { return .frame(connection, frame, by: identity) }
    for index in transmissions.indices {
      guard let bpm = transmissions[index].value.flatMap(bpm(of:)), isUnknown(reading: bpm) else { continue }
      tally.count("reading of an unknown kind")
      if bpm.isMultiple(of: 2) { transmissions[index].value = nil } else { transmissions[index].moment = nil }
    }
    var read = frame
    read.message = .samples(transmissions)
    return .frame(connection, read, by: identity)
  }

  /// The ready-made receipt for a command of an unknown kind.
  mutating func forward(_ reply: [UInt8], to connection: ConnectionID) {
    guard let id = CommandID(bytes: reply), let index = presses[id]?.peer, let session = peers[index].session else {
      return
    }
    let verdict = Verdict(
      commandID: id, kind: .lap, source: .shell, outcome: .rejected(.unsupported), runID: nil, term: 1, revision: 0,
      effectiveAt: nil)
    let receipt = Receipt(commandID: id, kind: .lap, source: .shell, stage: .verdict(verdict))
    transmit(HubFrame(session: session, message: .receipt(receipt)), to: connection)
  }

  /// A peer of a later version asks by request for the verdict of a command that the hub has moved over, because the
  /// receipt may have been lost with its connection. It does so at every pong.
  mutating func askForUnknown(of index: Int, on connection: UInt64) {
    guard index == climate.laterPeer, hub.core != nil else { return }
    let waiting = presses.filter { isUnknown($0.key) && $0.value.isOwed }
    for id in waiting.keys.sorted() {
      guard let row = peers[index].store.delivery.row(of: MessageID(high: id.high, low: id.low)),
        row.sequence <= peers[index].store.delivery.acknowledged[row.stream] ?? 0
      else { continue }
      feedHub(
        .unsupported(route(connection), UnsupportedCommand(session: 0, sequence: nil, reply: id.bytes)))
    }
  }

  /// A verdict as a peer reads it: a hub of a later version has reasons that peers do not know.
  func asRead(_ verdict: Verdict) -> Verdict {
    guard climate.isHubLater, verdict.commandID.low.isMultiple(of: 3), case .rejected(let reason) = verdict.outcome,
      reason != .unsupported
    else { return verdict }
    let isReason = verdict.commandID.low.isMultiple(of: 2)
    return Verdict(
      commandID: verdict.commandID, kind: verdict.kind, source: verdict.source,
      outcome: isReason ? .rejected(.unknown(77)) : .unknown, runID: verdict.runID, term: verdict.term,
      revision: verdict.revision, effectiveAt: verdict.effectiveAt)
  }

  /// What a peer reads of a frame from a hub of a later version.
  mutating func read(_ frame: HubFrame) -> HubFrame {
    guard climate.isHubLater else { return frame }
    var read = frame
    switch frame.message {
    case .delivery(.verdicts(let transmissions)):
      read.message = .delivery(
        .verdicts(
          transmissions.map { transmission in
            transmission.receipt.map { VerdictTransmission(sequence: transmission.sequence, receipt: asRead($0)) }
              ?? transmission
          }))
    case .receipt(let receipt): read.message = .receipt(asRead(receipt))
    default: break
    }
    return read
  }

  private mutating func asRead(_ receipt: Receipt) -> Receipt {
    guard case .verdict(let verdict) = receipt.stage, asRead(verdict) != verdict else { return receipt }
    tally.count("verdict of an unknown kind")
    return Receipt(
      commandID: receipt.commandID, kind: receipt.kind, source: receipt.source, stage: .verdict(asRead(verdict)),
      effectiveAge: receipt.effectiveAge, phase: receipt.phase)
  }
}
