import RunCore

// Checks at the end of every world: everything has arrived, and all agree.
extension World {
  /// Whether nothing is owed any more, so that waiting longer changes nothing.
  var isSettled: Bool {
    guard honestUnjudged.isEmpty, spool.isEmpty, shells.isEmpty, haveAllRecords else { return false }
    for kind in [StreamID.Kind.messages, .verdicts] where hub.store.delivery.owed(kind) > 0 { return false }
    for peer in peers {
      for kind in StreamID.Kind.allCases where peer.store.delivery.owed(kind) > 0 { return false }
    }
    return true
  }

  /// Commands without a verdict, except those that wrong members left, also under the id of an honest command.
  private var honestUnjudged: [CommandID] {
    hub.store.accepted.values.filter { !$0.press.command.id.isWrong && $0.press.store?.isWrong != true }
      .map(\.press.command.id).sorted()
  }

  mutating func checkEnd() {
    guard faults.isEmpty, hub.core != nil else { return }
    feedHub(.inquire(.outbox, 0))
    for index in peers.indices { feedPeer(index, .inquire(.outbox, 0)) }
    for id in honestUnjudged { faults.append("\(id) was never judged") }
    if !spool.isEmpty { faults.append("\(spool.count) presses still lie in the spool") }
    for index in peers.indices { checkEnd(of: index) }
    checkBoards()
    checkShells()
    checkPresses()
    checkOutboxes()
    checkPosts()
    checkLatest()
    checkEffects()
    checkSamples()
    checkRecords()
  }

  /// Whether a wrong member uses its name and its store: the hub cannot tell the two apart.
  func isImpersonated(_ index: Int) -> Bool { wrong.isStoreBorrowed && wrong.harmed == index }

  private mutating func checkEnd(of index: Int) {
    guard !isImpersonated(index) else { return }
    guard let core = peers[index].core, let hubCore = hub.core else {
      return faults.append("peer \(index) is not there")
    }
    if core.unjudgedCount > 0 { faults.append("peer \(index) still waits for a verdict") }
    // What was recorded a moment ago may still wait for the next commit; the last were recorded long ago.
    if core.spooledCount > 0 { faults.append("peer \(index) still has \(core.spooledCount) samples") }
    let (mine, theirs) = (core.authoritative, hubCore.authoritative)
    if mine.order.term != theirs.order.term || mine.order.revision != theirs.order.revision
      || mine.phase != theirs.phase || mine.runID != theirs.runID
    {
      faults.append("peer \(index) shows \(mine.order) \(mine.phase), the hub \(theirs.order) \(theirs.phase)")
    }
    if core.predicted != theirs.phase { faults.append("peer \(index) predicts \(core.predicted), not \(theirs.phase)") }
    checkLockScreen(index)
    if !core.isReachable { faults.append("peer \(index) finds no hub") }
  }

  private mutating func checkPresses() {
    for (id, press) in presses.sorted(by: { $0.key < $1.key }) where press.verdict == nil && !isLost(press.peer) {
      if press.isOwed && !press.isBuried || hub.store.verdicts[id] != nil {
        let known = hub.store.verdicts[id].map { "\($0.outcome)" } ?? "nothing"
        faults.append("peer \(press.peer): \(id) has no verdict; the hub knows \(known)")
      }
    }
  }

  /// Neither memory nor disk owes anything any more.
  private mutating func checkOutboxes() {
    for (index, peer) in peers.enumerated() where !isImpersonated(index) {
      for line in peer.outbox { faults.append("peer \(index) still owes \(line.kind) \(line.what)") }
      for kind in StreamID.Kind.allCases where peer.store.delivery.owed(kind) > 0 {
        faults.append("\(peer.store.delivery.owed(kind)) \(kind) on the disk of peer \(index)")
      }
      for (stream, rows) in peer.store.delivery.rows where stream.kind != .samples && !rows.isEmpty {
        faults.append("\(rows.count) places of \(stream.kind) on the disk of peer \(index)")
      }
    }
    // The hub may owe something for ever to a store that its device has replaced.
    guard loss == .none, wrong.harmed == nil else { return }
    let names = Set(peers.map(\.name))
    for line in hub.outbox where wrong.members.isEmpty || line.receiver.map(names.contains) ?? false {
      faults.append("the hub still owes \(line.kind) \(line.what)")
    }
    for (stream, rows) in hub.store.delivery.rows where !rows.isEmpty && !stream.receiver.isWrong {
      faults.append("\(rows.count) places of \(stream.kind) on the hub's disk")
    }
  }

  private mutating func checkPosts() {
    for (id, post) in posts.sorted(by: { $0.key < $1.key }) where !isForgiven(post) {
      guard post.deliveryClass == .queued, post.isQueued || post.wasDurable else { continue }
      switch post.last {
      case .processed:
        if post.processed != 1 { faults.append("\(id) was processed \(post.processed) times") }
      case .rejected(.quarantined):
        if post.fails == 0 { faults.append("\(id) is in quarantine, and never failed") }
      case .rejected: if post.processed > 0 { faults.append("\(id) was taken back, and processed") }
      case _ where post.isBuried:
        if post.processed > 0, post.fails == 0 { faults.append("\(id) was set aside, and processed") }
      default: faults.append("\(id) ended \(String(describing: post.last)), processed \(post.processed) times")
      }
    }
  }

  /// The receiver has the newest value that is durable at its sender.
  private mutating func checkLatest() {
    for index in peers.indices where loss != .hub && !isLost(index) {
      for row in peers[index].store.delivery.latestSent.values {
        if hub.core?.latest(row.key, from: peers[index].name)?.id != row.message.id {
          faults.append("the hub has another \(row.key) than peer \(index)")
        }
        checkNewest(row, from: .peer(index), to: .hub)
      }
      for row in hub.store.delivery.latestSent.values where row.device == peers[index].name {
        if peers[index].core?.latest(row.key)?.id != row.message.id {
          faults.append("peer \(index) has another \(row.key) than the hub")
        }
        checkNewest(row, from: .hub, to: .peer(index))
      }
    }
  }

  private mutating func checkNewest(_ row: LatestRow, from: WorldParty, to: WorldParty) {
    let told = posts.values.filter {
      $0.from == from && $0.to == to && $0.deliveryClass == .latest(key: row.key) && $0.isQueued
    }
    if let newest = told.map(\.number).max(), newest > row.message.id.low {
      faults.append("\(newest) was told to be queued, and \(row.message.id.low) is the newest \(row.key)")
    }
  }

  /// Effects follow the order of presses, and every applied command has an effect.
  private mutating func checkEffects() {
    var last: [Int: CommandID] = [:]
    // Effects follow press order only for peers without late commands and whole runs.
    let whoWasLate = Set(hub.store.late.compactMap { presses[$0]?.peer })
    for transition in hub.store.made {
      let id = transition.change.commandID
      guard let peer = presses[id]?.peer, !whoWasLate.contains(peer) else { continue }
      if let before = last[peer], before > id { faults.append("peer \(peer): \(id) took effect after \(before)") }
      last[peer] = id
    }
    for verdict in hub.store.verdicts.values
    where verdict.outcome == .applied && !hub.store.effects.contains(verdict.commandID) {
      faults.append("\(verdict.commandID) was applied without an effect")
    }
    if hub.store.made.count > ControlHistory.transitionsMax { tally.count("past forgotten") }
  }

  /// A reading is in the journal at most once. One that was on a disk or acknowledged and lies well inside its run is
  /// there, unless the run was removed: then none is.
  private mutating func checkSamples() {
    var found: Set<UInt64> = []
    let removed = hub.store.records.removed
    let entries = hub.store.journals.flatMap { run, entries in entries.map { (run, $0) } }
    for (run, entry) in entries.sorted(by: { $0.1.position < $1.1.position }) {
      guard case .sample(let value, _) = entry.event, let bpm = bpm(of: value) else { continue }
      if isUnknown(reading: bpm) { faults.append("sample \(bpm) is there, and the hub does not know its kind") }
      if removed[run] != nil { faults.append("sample \(bpm) is there, and its run was removed") }
      if !found.insert(bpm).inserted, !(samples[bpm].map { loss == .hub || isLost($0.peer) } ?? true) {
        faults.append("sample \(bpm) is there twice")
      }
    }
    guard loss == .none else { return }
    // Times are known only within the delays of a slow network, a slow commit, and a hung node.
    let margin = speed.bus(fromReal: .seconds(30))
    for (bpm, sample) in samples.sorted(by: { $0.key < $1.key })
    where sample.isOwed && !found.contains(bpm) && !isLost(sample.peer) {
      guard let named = sample.run, let time = sample.time else { continue }
      guard peers[sample.peer].wallOffset == 0, hub.wallOffset == 0 else { continue }
      let run = hub.store.namesEver[named] ?? named
      if removed[run] != nil { continue }
      let history = hub.store.made.filter { $0.runID == run }
      guard let start = history.first?.effectiveAt, time > start + margin else { continue }
      let stop = history.last { $0.kind == .stop }?.effectiveAt
      if let stop, time > stop - margin { continue }
      faults.append(
        "sample \(bpm) of peer \(sample.peer) is lost: taken \((time - start).seconds) s into \(run), "
          + "which was on for \(stop.map { ($0 - start).seconds } ?? .infinity) s")
    }
  }
}
