import RunCore

// What must be true in every world, at every moment and in the end.
extension World {
  /// Nobody sees a state that could be lost again, and all who see a revision see the same.
  mutating func check(_ snapshot: Snapshot) {
    let order = snapshot.order
    guard order != Snapshot.none.order else { return }
    if order.term > store.term { faults.append("term \(order.term) shows before it is durable") }
    if order.revision > store.revision { faults.append("revision \(order.revision) shows before it is durable") }
    if let other = seen[order.term]?[order.revision] {
      if other.phase != snapshot.phase || other.runID != snapshot.runID || other.changedBy != snapshot.changedBy {
        faults.append("two views of \(order.term).\(order.revision): \(other.phase) and \(snapshot.phase)")
      }
    } else {
      seen[order.term, default: [:]][order.revision] = snapshot
    }
  }

  /// A stage is told only once it is durable.
  mutating func check(_ receipt: Receipt) {
    let id = receipt.commandID
    switch receipt.stage {
    case .queued: faults.append("a hub queues nothing")
    case .pending:
      if store.accepted[id] == nil, store.verdicts[id] == nil { faults.append("\(id) is pending before it is durable") }
    case .verdict(let verdict):
      if store.verdicts[id] != verdict { faults.append("\(id): a verdict that is not the durable one") }
    }
  }

  mutating func check(_ frame: HubFrame) {
    switch frame.message {
    case .welcome(let welcome):
      check(welcome.state.snapshot)
      if welcome.commandWatermark > store.watermarks.values.max() ?? 0, welcome.commandWatermark > 0 {
        faults.append("a watermark that is not durable")
      }
    case .receipt(let receipt): check(receipt)
    case .state(let message): check(message.snapshot)
    case .pong(_, let order):
      if order.term > store.term || order.revision > store.revision {
        faults.append("a pong shows what is not durable")
      }
    case .samplesAcked(let sequence):
      if !store.watermarks.contains(where: { $0.key.kind == .samples && $0.value >= sequence }) {
        faults.append("samples are acknowledged before they are durable")
      }
    case .refused(let refusal):
      if refusal.code != .unknownSession { faults.append("refused: \(refusal.message)") }
    }
  }

  mutating func note(_ verdict: Verdict) {
    if let other = answered[verdict.commandID], other != verdict { faults.append("\(verdict.commandID): two verdicts") }
    answered[verdict.commandID] = verdict
  }

  /// After a time of peace everything has arrived and all agree.
  mutating func checkEnd() {
    guard faults.isEmpty, let hub else { return }
    if !store.accepted.isEmpty { faults.append("\(store.accepted.count) commands were never judged") }
    for (index, peer) in peers.enumerated() {
      for id in peer.pressed where peer.verdicts[id] == nil {
        faults.append("peer \(index): \(id) has no verdict; at the hub: \(String(describing: store.verdicts[id]))")
      }
      if peer.core.unsettledCount > 0 { faults.append("peer \(index) still waits for a verdict") }
      // What was recorded a moment ago may still wait for the next commit; the last were recorded long ago.
      if peer.core.spooledCount > 0 { faults.append("peer \(index) still has \(peer.core.spooledCount) samples") }
      let (mine, theirs) = (peer.core.authoritative, hub.authoritative)
      if mine.order.term != theirs.order.term || mine.order.revision != theirs.order.revision
        || mine.phase != theirs.phase || mine.runID != theirs.runID
      {
        faults.append("peer \(index) shows \(mine.order) \(mine.phase), the hub \(theirs.order) \(theirs.phase)")
      }
      if peer.core.predicted != theirs.phase { faults.append("peer \(index) predicts \(peer.core.predicted)") }
      if !peer.core.isReachable { faults.append("peer \(index) finds no hub") }
    }
    checkEffects()
  }

  /// The journal is a run's history: revisions without holes, legal steps, samples that are there at most once.
  private mutating func checkEffects() {
    var machine = RunMachine()
    for (index, transition) in store.transitions.filter({ $0.kind != .lap }).enumerated() {
      // Amendments of a run that is over repeat the revision; a simulated peer of this issue sends none.
      if transition.revision == UInt64(index) + 1, !machine.apply(transition.kind) {
        faults.append("revision \(transition.revision) is no legal step")
      }
    }
    var samples: Set<Double> = []
    for (_, entry) in store.entries {
      guard case .sample(.heartRate(let bpm), _) = entry.event else { continue }
      if !samples.insert(bpm).inserted { faults.append("sample \(bpm) is there twice") }
    }
    for verdict in store.verdicts.values where verdict.outcome == .applied && verdict.kind != .lap {
      if !store.transitions.contains(where: { $0.change.commandID == verdict.commandID }) {
        faults.append("\(verdict.commandID) was applied without an effect")
      }
    }
  }
}
