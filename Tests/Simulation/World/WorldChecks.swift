import RunCore

// Checks of every snapshot, receipt and answer in every world.
extension World {
  /// A snapshot shows only durable state, and all snapshots of a revision agree.
  mutating func check(_ snapshot: Snapshot) {
    let order = snapshot.order
    guard order != Snapshot.none.order else { return }
    // Snapshots of a hub before it lost its store may still be on their way.
    if loss != .hub {
      if order.term > hub.store.term { faults.append("term \(order.term) shows before it is durable") }
      if order.revision > hub.store.revision { faults.append("revision \(order.revision) shows before it is durable") }
      if let last = order.revision > 0 ? hub.store.made(order.revision) : nil {
        let phase = WorldStore.target(of: last.kind)
        if phase != snapshot.phase || last.runID != snapshot.runID || last.change != snapshot.changedBy {
          faults.append("revision \(order.revision) shows \(snapshot.phase), and the ledger says \(last.kind)")
        }
      }
      if let other = seen[order.term]?[order.revision] {
        if other.phase != snapshot.phase || other.runID != snapshot.runID || other.changedBy != snapshot.changedBy {
          faults.append("two views of \(order.term).\(order.revision): \(other.phase) and \(snapshot.phase)")
        }
      } else {
        seen[order.term, default: [:]][order.revision] = snapshot
      }
    }
  }

  mutating func check(_ event: BusEvent) {
    switch event {
    case .snapshot(let message): check(message.snapshot)
    case .receipt(let receipt, _): check(receipt)
    case .command(let command, _):
      if hub.store.accepted[command.id] == nil, hub.store.verdicts[command.id] == nil {
        faults.append("\(command.id) is in the feed before it is durable")
      }
    case .live(let message): check(message)
    case .presence, .message, .route, .room, .cue: break
    }
  }

  /// The hub sends a stage only once it is durable.
  mutating func check(_ receipt: Receipt) {
    let id = receipt.commandID
    switch receipt.stage {
    case .queued: faults.append("a hub queues nothing")
    case .pending:
      if hub.store.accepted[id] == nil, hub.store.verdicts[id] == nil {
        faults.append("\(id) is pending before it is durable")
      }
    case .verdict(let verdict):
      // A request that its sender may not give leaves no trace; a hub that lost history may not know whose id it has.
      if verdict.outcome == .rejected(.forbidden), hub.store.verdicts[id] == nil { return }
      if hub.store.verdicts[id] != verdict { faults.append("\(id): a verdict that is not the durable one") }
    }
  }

  /// What a peer tells its app about its own commands.
  mutating func check(_ receipt: Receipt, at index: Int) {
    let id = receipt.commandID
    guard let press = presses[id], press.peer == index else { return faults.append("\(id) is told to a stranger") }
    let message = MessageID(high: id.high, low: id.low)
    let row = peers[index].store.delivery.row(of: message)
    switch receipt.stage {
    case .queued:
      tally.count("command queued")
      if !press.isOwed { faults.append("\(id) is queued before it is durable") }
    case .pending:
      tally.count("command pending")
      if loss != .hub, !isUnknown(id) { check(receipt) }
    case .verdict(let verdict):
      tally.count("command judged")
      if !peers[index].told.insert(id).inserted { faults.append("\(id): a second verdict") }
      // A store that was restored from an older copy holds commands that had been cancelled or judged.
      let isForgiven = loss == .hub || isLost(index)
      if verdict.kind != press.kind, !isForgiven {
        faults.append("\(id): a \(press.kind) is judged as a \(verdict.kind)")
      }
      if let told = press.verdict, told != verdict, !isForgiven { faults.append("\(id): two verdicts") }
      presses[id]?.verdict = verdict
      switch verdict.outcome {
      case .rejected(.cancelled), .rejected(.expired):
        tally.count(verdict)
        if row != nil { faults.append("\(id) is told to be gone before that is durable") }
        if !isForgiven, hub.store.accepted[id] != nil || hub.store.verdicts[id] != nil {
          faults.append("\(id) was taken back after the hub had it")
        }
      case .rejected(.busy): break
      case .rejected(.unsupported):
        if !isUnknown(id) { faults.append("\(id) is unsupported, and its kind is known") }
        if hub.store.accepted[id] != nil || hub.store.verdicts[id] != nil {
          faults.append("\(id) is of an unknown kind, and the hub has it")
        }
      default:
        if loss != .hub, hub.store.verdicts[id].map(asRead) != verdict {
          faults.append("\(id): a verdict that is not the durable one")
        }
      }
    }
  }

  /// What a node tells its app about its messages.
  mutating func check(_ receipt: MessageReceipt, at party: WorldParty) {
    let id = receipt.messageID
    guard !id.isWrong else { return }
    guard let post = posts[id], post.from == party else { return faults.append("\(id) is told to a stranger") }
    tally.count(receipt.stage, of: post.deliveryClass)
    if post.isRefused { faults.append("\(id) was refused and is told \(receipt.stage)") }
    let row = disk(of: party).row(of: id)
    switch receipt.stage {
    case .queued:
      if !post.wasDurable { faults.append("\(id) is queued before it is durable") }
      posts[id]?.isQueued = true
    case .rejected(let reason):
      if row != nil { faults.append("\(id) is told \(reason.code) before that is durable") }
    case .processed:
      if post.deliveryClass == .queued, post.processed == 0, !isForgiven(post) {
        faults.append("\(id) is told to be processed before that is durable")
      }
    case .replaced:
      // A member that uses another's store mixes up what the hub keeps for the two.
      if !isOfVictim(post), disk(of: party).latestSent.values.contains(where: { $0.message.id == id }) {
        faults.append("\(id) is told to be replaced before that is durable")
      }
    case .sent, .delivered: break
    }
    if let last = post.last, last.isLast, last != receipt.stage, !isForgiven(post) {
      faults.append("\(id) is told \(receipt.stage) after \(last)")
    }
    posts[id]?.last = receipt.stage
  }

  mutating func note(_ verdict: Verdict) {
    if let other = answered[verdict.commandID], other != verdict, loss != .hub {
      faults.append("\(verdict.commandID): two verdicts")
    }
    answered[verdict.commandID] = verdict
  }

  mutating func take(_ answer: InquiryAnswer, _ number: UInt64, at party: WorldParty) {
    switch answer {
    case .outbox(let lines):
      switch party {
      case .hub: hub.outbox = lines
      case .peer(let index): peers[index].outbox = lines
      }
    case .done:
      let isMessage = posts[MessageID(high: 6, low: number)] != nil
      tally.count(isMessage ? "cancelled a message" : "cancelled a command")
      if isMessage, disk(of: party).row(of: MessageID(high: 6, low: number)) != nil {
        faults.append("\(number) is said to be cancelled before that is durable")
      }
    case .failed: tally.count("could not be cancelled")
    case .peers, .quarantine, .report, .route, .series, .records, .record, .taken, .devices, .pairing, .room, .messages:
      break
    }
  }
}
