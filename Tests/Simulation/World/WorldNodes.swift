import RunCore

// The nodes: the world feeds events to their cores, carries out the actions, and checks each of them.
extension World {
  mutating func feedHub(_ event: HubCore.Event) {
    let hubTime = hub.busClock.bus(at: hubNow)
    checkDisplayClock(at: hubTime)
    if case .frame(_, let frame, _) = event, case .samples = frame.message { hub.readingAt = hubTime }
    guard let actions = hub.core?.receive(event, at: hubTime) else { return }
    checkInvariants(of: .hub)
    checkRecordsDue(after: event, at: hubTime)
    let isDeadline = if case .deadline = event { true } else { false }
    noteDue(of: .hub)
    checkGoodbye(actions)
    for action in actions {
      if let news = HubCore.news(of: action) { hub.board.receive(news, at: hubTime) }
      switch action {
      case .open: feedHub(.opened(eventsEndpoint: climate.eventsEndpoint, limits: climate.limits))
      case .send(let frame, let connection):
        if WorldOwner.isStranger(Self.number(of: connection)) {
          transmit(frame, to: connection)
          continue
        }
        checkKey(of: frame, to: Self.number(of: connection))
        check(frame, to: connection)
        guard connection.isRequest, !WrongParty.isWrong(Self.number(of: connection)) else {
          transmit(frame, to: connection)
          continue
        }
        if case .receipt(let receipt) = frame.message, case .verdict(let verdict) = receipt.stage { note(verdict) }
      case .publish(let event):
        check(event)
        if isDeadline, case .presence(let presence) = event, !presence.isReachable {
          checkSilence(of: presence.deviceID)
        }
        publish(event)
        if case .snapshot(let message) = event { checkSchedule(message.snapshot, at: hubTime) }
      case .commit(let id, let operations):
        checkWindows(operations)
        noteChange(operations)
        noteRoom(operations)
        checkPressTimes(operations)
        commit(id, operations, of: .hub)
      case .receipt(let receipt): check(receipt)
      case .messageReceipt(let receipt): check(receipt, at: .hub)
      case .refusePost(let id, let refusal): noteRefusal(of: id, refusal)
      case .hand(let handlerCall): take(handlerCall, at: .hub)
      case .spooledCommandJudged(let id): settleSpool(id)
      case .answer(let answer, let number): take(answer, number, at: .hub)
      case .show(let snapshot):
        if snapshot.order <= hub.lastOrder { faults.append("hub: \(snapshot.order) after \(hub.lastOrder)") }
        hub.lastOrder = snapshot.order
        hub.shown = snapshot
        check(snapshot)
      case .keep: tally.count("whole run")
      case .readJournal(let run): feedHub(.journal(run, hub.store.journal(of: run)))
      case .ended: endHub()
      case .readRecord(let run, let from, let asker):
        feedHub(.recordRead(hub.store.records.reading(run, from: from), for: asker))
      case .recovered(let recovery): note(recovery)
      case .forward(let bytes, let connection): forward(bytes, to: connection)
      case .admit(let keys): admit(keys)
      case .cutConnections: cutConnections()
      case .useNextKey, .listenForPairing, .forbade, .record, .note, .showLive, .room: break
      }
    }
    checkSchedule(at: hubTime)
    if !hub.awaited.isEmpty { checkAwaited() }
  }

  /// What always holds in a core. Debug builds assert it themselves.
  private mutating func checkInvariants(of party: WorldParty) {
    #if !DEBUG
      switch party {
      case .hub: faults += hub.core?.check() ?? []
      case .peer(let index): faults += peers[index].core?.check() ?? []
      }
    #endif
  }

  mutating func feedPeer(_ index: Int, _ event: PeerCore.Event) {
    let peerTime = peerNow(index)
    guard let actions = peers[index].core?.receive(event, at: peerTime) else { return }
    checkInvariants(of: .peer(index))
    noteDue(of: .peer(index))
    for action in actions {
      let core = peers[index].core
      let news = PeerCore.news(of: action, link: core?.reachability(at: peerTime) ?? Reachability())
      if let news { peers[index].board.receive(news, at: peerTime) }
      switch action {
      case .send(let frame):
        check(frame, from: index)
        transmit(frame, from: index)
      case .subscribe:
        if climate.eventsEndpoint.isEmpty { faults.append("peer \(index) subscribes where nothing is published") }
        peers[index].subscription = number()
        if isLockScreen(index) { schedule(.follows, in: delay()) }
      case .commit(let id, let operations): commit(id, operations, of: .peer(index))
      case .receipt(let receipt): check(receipt, at: index)
      case .messageReceipt(let receipt): check(receipt, at: .peer(index))
      case .refusePost(let id, let refusal): noteRefusal(of: id, refusal)
      case .hand(let handlerCall): take(handlerCall, at: .peer(index))
      case .spooledCommandJudged(let id): settleSpool(id)
      case .answer(let answer, let number): take(answer, number, at: .peer(index))
      case .show(let snapshot):
        if snapshot.order <= peers[index].lastShown {
          faults.append("peer \(index): \(snapshot.order) after \(peers[index].lastShown)")
        }
        peers[index].lastShown = snapshot.order
        check(snapshot)
      case .showLive(let activity): check(activity, at: index)
      case .hubLost(let lost): check(lost, at: index)
      case .readRecord(let run, let from, let asker):
        feedPeer(index, .recordRead(peers[index].store.records.reading(run, from: from), for: asker))
      case .record(let news): check(news, at: index)
      case .hear, .reachability, .view, .note, .met, .answered, .ended: break
      case .enrolled(let told, let announced):
        peers[index].enrolment = told
        if let announced, announced != told.nextDeviceKey {
          faults.append("peer \(index) takes a key for known that the hub does not tell of")
        }
        if let announced { useNewKey(announced, index) }
      case .fail(let refusal): faults.append("peer \(index) was refused: \(refusal.message)")
      }
    }
  }

  private mutating func commit(_ id: CommitID, _ operations: [StoreOperation], of party: WorldParty) {
    let isSlow =
      switch party {
      case .hub: chance(climate.slowCommit)
      case .peer(let index): chance(peers[index].isSlow ? 2 : climate.slowCommit)
      }
    let fullUntil =
      switch party {
      case .hub: hub.isFullUntil
      case .peer(let index): peers[index].isFullUntil
      }
    if isSlow { tally.count("slow commit") }
    let isWritten = isHealed || isCalm || now >= fullUntil && !chance(climate.commitFailure)
    if party == .hub, isSlow || !isWritten { hub.isTroubledUntil = max(hub.isTroubledUntil, now + .seconds(6)) }
    schedule(
      .committed(party, life: life(of: party), id, operations, isWritten: isWritten),
      in: milliseconds(0...(isSlow ? 900 : 10)))
  }

  /// Commits operations to a party's disk: they are durable from here on.
  mutating func write(_ operations: [StoreOperation], to party: WorldParty) {
    noteBuried(operations, by: party)
    switch party {
    case .hub:
      let before = hub.store.delivery.watermarks
      hub.store.commit(operations, bootID: bootID(of: nil), wallSeconds: wallSeconds())
      checkMarks(since: before, operations, by: .hub)
      checkRevocation(operations)
      if hub.store.hasFaults { faults += hub.store.faults }
    case .peer(let index):
      let before = peers[index].store.delivery.watermarks
      peers[index].store.commit(
        operations, bootID: bootID(of: index), wallSeconds: wallSeconds(of: index))
      checkMarks(since: before, operations, by: .peer(index))
      faults += peers[index].store.faults
    }
    for operation in operations {
      noteWrite(operation, by: party)
      if party == .hub { noteRecord(operation) }
    }
  }

  /// Follows the commit operation by operation, because it may add a row, or renumber its stream, before the
  /// tombstone.
  private mutating func noteBuried(_ operations: [StoreOperation], by party: WorldParty) {
    guard operations.contains(where: { if case .tombstone = $0 { true } else { false } }) else { return }
    var disk = disk(of: party)
    for operation in operations {
      if case .tombstone(let stream, let sequence) = operation, let id = disk.row(stream, sequence)?.item?.id {
        presses[CommandID(high: id.high, low: id.low)]?.isBuried = true
        posts[id]?.isBuried = true
      }
      disk.apply(operation)
    }
  }

  private mutating func noteWrite(_ operation: StoreOperation, by party: WorldParty) {
    switch (operation, party) {
    case (.enqueue(let row), _):
      switch row.item {
      case .command(let command): presses[command.id]?.isOwed = true
      case .message(let message): posts[message.id]?.wasDurable = true
      case .sample(let sample, let run): own(sample.value, run: run)
      case .verdict, nil: break
      }
    case (.setLatest(let row), _): posts[row.message.id]?.wasDurable = true
    case (.setStoreID, .peer(let index)):
      tally.count("peer began anew")
      if loss != .hub, !isLost(index) {
        faults.append("peer \(index) took a new store id, though no store lost anything")
      }
    case (.judge(let verdict, _, _), _): tally.count(verdict)
    case (.keepRecord(let record, _), .hub): tally.count(record.summary.version == 1 ? "record" : "record anew")
    case (.keepRecord(let record, _), .peer): note(record)
    case (.editRecord, _): tally.count("record edited")
    case (.removeRecord, .hub): tally.count("record removed")
    case (.removeRecord, .peer): tally.count("record removed at a peer")
    default: break
    }
  }

  func bpm(of value: SampleValue) -> UInt64? {
    // Wrong members send heart rates that are no whole numbers.
    if case .heartRate(let bpm) = value { UInt64(exactly: bpm) } else { nil }
  }

  private mutating func own(_ value: SampleValue, run: RunID?) {
    guard let bpm = bpm(of: value) else { return }
    samples[bpm]?.run = run
    samples[bpm]?.isOwed = true
  }
}
