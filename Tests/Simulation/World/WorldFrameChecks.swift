import RunCore

// Checks of every frame in every world: a node sends only what its disk holds.
extension World {
  mutating func check(_ frame: HubFrame, to connection: ConnectionID) {
    let number = Self.number(of: connection)
    if WrongParty.isWrong(number) { return checkWrong(frame) }
    switch frame.message {
    case .welcome(let welcome):
      check(welcome.state.snapshot)
      if let peer = speakers[number]?.peer { crowding[peer] = nil }
      if welcome.recordsThrough > hub.store.lastRecordChange {
        faults.append("a welcome tells of records that are not durable")
      }
      if welcome.storeID != hub.store.storeID { faults.append("a welcome names a store that is not durable") }
      guard let store = speakers[number]?.store else { return }
      for (kind, mark) in welcome.received {
        let durable = hub.store.delivery.watermarks[StreamID(sender: store, kind: kind)] ?? .start
        if mark.sequence > durable.sequence { faults.append("a welcome states a \(kind) mark that is not durable") }
      }
    case .receipt(let receipt): check(receipt)
    case .state(let message): check(message.snapshot)
    case .pong(_, let order, let recordsThrough):
      if recordsThrough > hub.store.lastRecordChange { faults.append("a pong tells of records that are not durable") }
      if order.term > hub.store.term || order.revision > hub.store.revision {
        faults.append("a pong shows what is not durable")
      }
    case .delivery(let message):
      guard let speaker = speakers[number] else { return faults.append("a delivery to nobody") }
      let party = WorldParty.peer(speaker.peer)
      check(
        message, by: .hub, from: hub.store.storeID, to: speaker.store, devices: peers[speaker.peer].names, other: party)
    case .refused(let refusal):
      // A late hello may be refused; that no peer resets its identity for it is checked at the peer.
      let isExpected = refusal.code == .unknownSession || refusal.code == .storeRegressed
      // The frame was on its way when the key was taken back or replaced.
      if refusal.code == .forbidden, case .key(let key) = identities[number], !owner.admitted.contains(key) { return }
      if refusal.code.isForNow, hub.core?.deviceList.isBehind == true { return tally.count("refused by an old list") }
      if refusal.code.isForNow, !wrong.members.isEmpty { return noteBusy(speakers[number]?.peer) }
      // A shell repeats its requests while the hub's disk stands still.
      if refusal.code.isForNow, speakers[number] == nil { return tally.count("shell refused") }
      // So does a peer that forwards what shells have left.
      if refusal.code.isForNow, now <= hub.isTroubledUntil { return tally.count("peer refused by a hub in trouble") }
      if !isExpected { faults.append("refused: \(refusal.message)") }
    case .recordChange(let change):
      if change.number > hub.store.lastRecordChange { faults.append("a record leaves before it is durable") }
    case .answer, .pairing, .room, .goodbye: break
    }
  }

  mutating func check(_ frame: PeerFrame, from index: Int) {
    let storeID = peers[index].store.storeID
    let hubStore = hubStore(of: index)
    switch frame.message {
    case .hello(let hello):
      if hello.storeID != storeID { faults.append("a hello names a store that is not durable") }
      guard let hub = hello.hub else { return }
      for (kind, mark) in hello.received {
        let durable = peers[index].store.delivery.watermarks[StreamID(sender: hub, kind: kind)] ?? .start
        if mark.sequence > durable.sequence { faults.append("a hello states a \(kind) mark that is not durable") }
      }
    case .command(let transmission):
      let row = peers[index].store.delivery.row(
        OutboundStreamID(receiver: hubStore, kind: .commands), transmission.sequence)
      if row?.item != .command(transmission.command) { faults.append("\(transmission.command.id) leaves too early") }
      if row?.tries == 0 { faults.append("\(transmission.command.id) leaves, and a later life could cancel it") }
      note(
        transmission.command.id.low, from: storeID, to: hubStore, .commands, transmission.sequence,
        by: .peer(index))
    case .samples(let transmissions):
      for transmission in transmissions {
        guard let bpm = transmission.value.flatMap({ bpm(of: $0) }) else { continue }
        samples[bpm]?.run = transmission.runID
        note(bpm, from: storeID, to: hubStore, .samples, transmission.sequence, by: .peer(index))
      }
    case .delivery(let message):
      check(
        message, by: .peer(index), from: storeID, to: hubStore, devices: [nil], other: .hub)
    case .fetchRecord(let fetch):
      if !climate.limits.carriesRecords { faults.append("peer \(index) asks for records on a connection without any") }
      if fetch.after != peers[index].store.records.through, fetch.after > 0 {
        faults.append("peer \(index) asks for records as if it had some that are not durable")
      }
    case .ping(_, let nextWithin, _):
      if nextWithin < climate.limits.heartbeatMin {
        faults.append("peer \(index) pings more often than the link allows")
      }
    case .query, .goodbye, .request, .inquire, .pair, .announceKey, .room: break
    }
  }

  /// The id of the hub's store on a peer's disk.
  func hubStore(of index: Int) -> StoreID { peers[index].store.hub?.storeID ?? .none }

  /// - Parameter devices: the receiver on the sender's disk, by one of its names; `nil` where the sender is a peer.
  private mutating func check(
    _ message: DeliveryMessage, by party: WorldParty, from: StoreID, to: StoreID, devices: [DeviceID?],
    other: WorldParty
  ) {
    let disk = disk(of: party)
    switch message {
    case .messages(let transmissions):
      let size = transmissions.reduce(0) { $0 + $1.message.name.utf8.count + $1.message.body.count + 28 }
      if transmissions.count > 1, size > climate.limits.frameBytesMax {
        faults.append("\(party) sends \(size) bytes of messages in a frame")
      }
      for transmission in transmissions {
        let row = disk.row(OutboundStreamID(receiver: to, kind: .messages), transmission.sequence)
        if row?.item != .message(transmission.message) { faults.append("\(transmission.message.id) leaves too early") }
        if row?.tries == 0 { faults.append("\(transmission.message.id) leaves, and a later life could cancel it") }
        // Ids of wrong members' messages are not numbers of this world.
        guard !transmission.message.id.isWrong else { continue }
        note(transmission.message.id.low, from: from, to: to, .messages, transmission.sequence, by: party)
      }
    case .verdicts(let transmissions):
      for transmission in transmissions {
        if let receipt = transmission.receipt { check(receipt) }
        let row = disk.row(OutboundStreamID(receiver: to, kind: .verdicts), transmission.sequence)
        let id = MessageID(high: transmission.commandID.high, low: transmission.commandID.low)
        if row?.item?.id != id { faults.append("the verdict of \(id) leaves too early") }
        note(id.low, from: from, to: to, .verdicts, transmission.sequence, by: party)
      }
    case .acknowledge(let kind, let sequence):
      let durable = disk.watermarks[StreamID(sender: to, kind: kind)] ?? .start
      if sequence > durable.sequence { faults.append("\(kind) are acknowledged before they are durable") }
    case .latest(let key, let version, let value):
      let row = devices.lazy.compactMap { disk.latestSent[StoredDelivery.Place(device: $0, key: key)] }.first
      // A member that uses another's store mixes up what the hub keeps for the two.
      if case .peer(let index) = other, isImpersonated(index) { break }
      if row == nil || row!.version < version || row!.version == version && row!.message != value {
        faults.append("the value of \(key) leaves too early")
      }
    case .acknowledgeLatest(let key, let version):
      let names: [DeviceID] =
        switch other {
        case .hub: [DeviceID("phone")]
        case .peer(let index): peers[index].names
        }
      let row = names.lazy.compactMap { disk.latestReceived[StoredDelivery.Place(device: $0, key: key)] }.first
      if case .peer(let index) = other, isImpersonated(index) { break }
      if row == nil || row!.store == to && row!.version < version {
        faults.append("the value of \(key) is acknowledged before it is durable")
      }
    case .tombstones(let kind, let from, let through):
      let rows = disk.rows[OutboundStreamID(receiver: to, kind: kind)] ?? []
      if rows.contains(where: { $0.item != nil && (from...through).contains($0.sequence) }) {
        faults.append("\(kind) \(from) to \(through) are said to be nothing before that is durable")
      }
    case .refuseLatest(let key, _):
      if case .peer(let index) = other {
        noteRefusedValue(key, of: index)
      } else {
        faults.append("a value of the hub's is refused")
      }
    case .delivered, .goBack, .live: break
    }
  }

  /// Between two stores a sequence number holds one item, ever.
  private mutating func note(
    _ what: UInt64, from: StoreID, to: StoreID, _ kind: StreamID.Kind, _ sequence: UInt64, by party: WorldParty
  ) {
    let isForgiven =
      switch (loss, party) {
      case (.hub, .hub): true
      case (.peer(let index), .hub): kind != .commands && to == peers[index].store.storeID
      case (.peer, .peer(let index)): isLost(index)
      case (.none, _), (.hub, .peer):
        wrong.harmed.map { from == peers[$0].store.storeID || to == peers[$0].store.storeID } ?? false
      }
    let place = WorldPlace(from: from, to: to, kind: kind, sequence: sequence)
    if let known = places[place], known != what, !isForgiven {
      faults.append("place \(sequence) of \(kind) holds \(known) and \(what)")
    }
    places[place] = what
    if kind == .samples { unacknowledged[from, default: []].append((sequence, what)) }
  }

  /// Watermarks move only over items that were received, in the same commit as these.
  mutating func checkMarks(
    since before: [StreamID: StreamMark], _ operations: [StoreOperation], by party: WorldParty
  ) {
    var marks = before
    for case .setWatermark(let stream, let mark) in operations where !stream.sender.isWrong {
      let known = marks[stream]?.sequence ?? 0
      marks[stream] = mark
      if stream.kind == .messages { checkMessages(stream, from: known, through: mark.sequence, by: party) }
      guard mark.sequence > known, loss == .none, wrong.harmed == nil else { continue }
      for sequence in known + 1...mark.sequence where mark.sequence - known <= 4096 {
        let place = place(of: sequence, stream.kind, from: stream.sender)
        guard let what = places[place] else { continue }
        switch stream.kind {
        case .commands:
          let id = CommandID(high: 4, low: what)
          if !isUnknown(id), hub.store.accepted[id] == nil, hub.store.verdicts[id] == nil {
            faults.append("the mark of commands moves over \(id), which was not taken in")
          }
        case .samples:
          // A reading that was on no disk may be lost with its node.
          if samples[what]?.isOwed ?? false, !arrived.contains(place) {
            faults.append("the mark of samples moves over \(what), which never came")
          }
        case .messages, .verdicts: break
        }
      }
    }
  }

  /// A peer deletes acknowledged readings, so from here on the hub must keep them.
  mutating func noteAcknowledged(_ frame: HubFrame, by index: Int) {
    guard case .delivery(.acknowledge(.samples, let through)) = frame.message else { return }
    let store = peers[index].store.storeID
    unacknowledged[store]?.removeAll { sequence, reading in
      guard sequence <= through else { return false }
      if samples[reading]?.life == peers[index].life { samples[reading]?.isOwed = true }
      return true
    }
  }

  /// A durable watermark of messages moves only over messages that the app has handled, each once.
  private mutating func checkMessages(
    _ stream: StreamID, from known: UInt64, through mark: UInt64, by party: WorldParty
  ) {
    let own =
      switch party {
      case .hub: hub.store.storeID
      case .peer(let index): peers[index].store.storeID
      }
    guard mark > known else { return }
    for sequence in known + 1...mark {
      let place = WorldPlace(from: stream.sender, to: own, kind: .messages, sequence: sequence)
      guard let what = places[place], let post = posts[MessageID(high: 6, low: what)] else { continue }
      let isBuried = disk(of: post.from).row(of: MessageID(high: 6, low: what)) == nil
      if !isForgiven(post) {
        if post.returns == 0, !isBuried { faults.append("\(what) counts as processed, and was never handled") }
        if post.processed > 0 { faults.append("\(what) is processed twice") }
      }
      if post.returns > 0 { posts[MessageID(high: 6, low: what)]?.processed += 1 }
    }
  }
}
