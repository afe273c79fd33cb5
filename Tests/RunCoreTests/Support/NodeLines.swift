import RunCore

/// Writes actions and frames as short lines, so that a test reads like a conversation.
enum NodeLines {
  /// Each incarnation begins with this operation, so the lines leave it out.
  private static func isShown(_ operation: StoreOperation) -> Bool {
    if case .skipChanges = operation { false } else { true }
  }

  static func line(_ action: HubCore.Action) -> String {
    switch action {
    case .open: "open"
    case .send(let frame, let connection): "\(name(connection)) ← \(line(frame.message))"
    case .forward(let bytes, let connection): "\(name(connection)) ← bytes \(bytes)"
    case .publish(let event): "publish \(line(event))"
    case .commit(_, let operations): "commit: \(operations.filter(isShown).map(line).joined(separator: ", "))"
    case .receipt(let receipt): "own \(line(receipt))"
    case .messageReceipt(let receipt): line(receipt)
    case .refusePost(let id, let refusal): "refuse \(id.low) \(refusal)"
    case .hand(let handlerCall): line(handlerCall)
    case .keep: "keep"
    case .readJournal(let run): "read run \(run.low)"
    case .readRecord(let run, let from, let asker): line(run, from, asker)
    case .record(let news): line(news)
    case .spooledCommandJudged(let id): "settled \(id.low)"
    case .answer(let answer, let number): "answer \(number): \(line(answer))"
    case .show(let snapshot): "show \(line(snapshot))"
    case .showLive(let activity): "show \(line(activity))"
    case .recovered(let recovery): "\(recovery.outcome) after \(seconds(recovery.downtime))"
    case .admit(let keys): "admit \(keys.sorted().map(name).joined(separator: " "))"
    case .cutConnections: "cut connections"
    case .useNextKey: "use the next key"
    case .listenForPairing(let isOn): isOn ? "listen for pairing" : "stop listening for pairing"
    case .forbade(let identity, _): "forbade \(name(identity))"
    case .note: "note"
    case .room(let act): "room \(act)"
    case .ended: "ended"
    }
  }

  /// A key by its first byte.
  static func name(_ key: KeyFingerprint) -> String { "key \(key.bytes[0])" }

  static func name(_ identity: ConnectionIdentity) -> String {
    switch identity {
    case .key(let key): name(key)
    case .candidate(let key): "candidate \(key.bytes[0])"
    case .localOwner, .link, .anyone: "\(identity)"
    }
  }

  static func line(_ action: PeerCore.Action) -> String {
    switch action {
    case .send(let frame): "send \(line(frame.message))"
    case .subscribe(let endpoint, let topics): "subscribe \(endpoint) \(topics.map(\.rawValue).joined())"
    case .commit(_, let operations): "commit: \(operations.map(line).joined(separator: ", "))"
    case .receipt(let receipt): line(receipt)
    case .show(let snapshot): "show \(line(snapshot))"
    case .showLive(let activity): "show \(line(activity))"
    case .hear(let event): "hear \(line(event))"
    case .reachability(let value): value ? "reachable" : "unreachable"
    case .view(let state): line(state)
    case .hubLost(let lost): "hub lost: \(line(lost))"
    case .messageReceipt(let receipt): line(receipt)
    case .refusePost(let id, let refusal): "refuse \(id.low) \(refusal)"
    case .hand(let handlerCall): line(handlerCall)
    case .spooledCommandJudged(let id): "settled \(id.low)"
    case .answer(let answer, let number): "answer \(number): \(line(answer))"
    case .answered(let answer): "answered \(line(answer))"
    case .readRecord(let run, let from, let asker): line(run, from, asker)
    case .record(let news): line(news)
    case .met: "met"
    case .enrolled(let told, let announced):
      "enrolled \(told.deviceID) at \(told.listVersion)\(announced.map { ", \(name($0)) known" } ?? "")"
    case .fail(let refusal): "fail \(refusal.code.rawValue)"
    case .note: "note"
    case .ended: "ended"
    }
  }

  static func line(_ run: RunID, _ from: Int, _ asker: RecordAsker) -> String {
    switch asker {
    case .inquiry(let number): "read run \(run.low) from \(from) for \(number)"
    case .peer(let connection, _, _): "read run \(run.low) from \(from) for \(name(connection))"
    }
  }

  static func line(_ news: RecordNews) -> String {
    switch news {
    case .kept(let summary): "kept run \(summary.runID.low)v\(summary.version)"
    case .removed(let run): "removed run \(run.low)"
    }
  }

  static func line(_ state: ViewState) -> String {
    let word = state.isHubOffDuty ? "off duty" : state.isStale ? "stale" : "fresh"
    return "\(word)\(state.age.map { " \(seconds($0))" } ?? "")"
  }

  static func line(_ lost: HubLost) -> String {
    "run \(lost.runID.map { "\($0.low)" } ?? "?") at \(line(lost.order)), "
      + "\(lost.deviceID?.rawValue ?? "?") silent for \(seconds(lost.silence))"
  }

  static func line(_ message: HubMessage) -> String {
    switch message {
    case .welcome(let welcome):
      "welcome \(welcome.nonce)\(marks(welcome.received)), \(line(welcome.state.snapshot))"
    case .refused(let refusal): "refused \(refusal.code.rawValue)"
    case .receipt(let receipt): line(receipt)
    case .delivery(let message): line(message)
    case .answer(let answer): "answer \(line(answer))"
    case .pong(let number, let order, let records):
      "pong \(number) at \(line(order))\(records > 0 ? ", records to \(change(records))" : "")"
    case .recordChange(let news):
      "change \(change(news.number)): run \(news.runID.low)v\(news.version)"
        + (news.summary == nil ? " removed" : " \(news.from)+\(news.bytes.count) of \(news.total)")
    case .state(let message): "state \(line(message.snapshot))"
    case .pairing(.waiting): "wait"
    case .pairing(.paired(let enrolment)): "paired as \(enrolment.deviceID) at \(enrolment.listVersion)"
    case .pairing(.refused): "not paired"
    case .room(_, let answer): "room \(answer)"
    case .goodbye: "goodbye"
    }
  }

  /// A record change: the hub's term and the number within it.
  static func change(_ number: UInt64) -> String { "\(number >> 30).\(number & 0x3FFF_FFFF)" }

  static func line(_ message: PeerMessage) -> String {
    switch message {
    case .hello(let hello):
      "hello seen \(hello.termSeen)"
        + marks(hello.acknowledged.mapValues { StreamMark(sequence: $0) }, "acknowledged ")
        + marks(hello.received, "received ")
    case .command(let transmission):
      "\(transmission.sequence) \(transmission.command.kind.rawValue) \(seconds(transmission.age))"
    case .samples(let samples): "samples \(samples.map { "\($0.sequence)" }.joined(separator: " "))"
    case .ping(let number, let interval, _): "ping \(number) within \(seconds(interval))"
    case .query: "query"
    case .goodbye: "goodbye"
    case .request(let request):
      switch request.subject {
      case .command(let request): "request \(request.command.kind.rawValue) \(seconds(request.age))"
      case .state: "request state"
      case .inquiry(let inquiry): "request \(inquiry)"
      }
    case .delivery(let message): line(message)
    case .inquire(let inquiry): "inquire \(inquiry)"
    case .fetchRecord(let fetch): "fetch after \(change(fetch.after)) from \(fetch.from)"
    case .pair(let request): "pair \(request.deviceID)"
    case .announceKey(let key): "announce \(name(key))"
    case .room(let ask): "room \(ask.wish) \(seconds(ask.age))"
    }
  }

  static func line(_ message: DeliveryMessage) -> String {
    switch message {
    case .messages(let transmissions): "messages \(transmissions.map { "\($0.sequence)" }.joined(separator: " "))"
    case .verdicts(let transmissions):
      transmissions.map { "\($0.sequence): \($0.receipt.map(line) ?? "unknown")" }.joined(separator: ", ")
    case .tombstones(let kind, let from, let through): "no \(kind.rawValue) \(from)...\(through)"
    case .acknowledge(let kind, let sequence): "\(kind.rawValue) to \(sequence)"
    case .delivered(let sequence): "delivered to \(sequence)"
    case .goBack(let kind, let place, let failure): "\(kind.rawValue) from \(place)\(failure.map { ", \($0)" } ?? "")"
    case .latest(let key, let version, _): "\(key) \(version)"
    case .acknowledgeLatest(let key, let version): "has \(key) \(version)"
    case .refuseLatest(let key, let version): "no room for \(key) \(version)"
    case .live(let message): "live \(message.id.low)"
    }
  }

  static func line(_ receipt: MessageReceipt) -> String {
    if case .rejected(let reason) = receipt.stage { return "\(receipt.messageID.low) \(reason.code)" }
    return "\(receipt.messageID.low) \(receipt.stage)"
  }

  static func line(_ handlerCall: HandlerCall) -> String {
    "hand \(handlerCall.received.message.id.low)\(handlerCall.sequence.map { " at \($0)" } ?? "")"
  }

  static func line(_ answer: InquiryAnswer) -> String {
    switch answer {
    case .peers(let reports): reports.map(\.deviceID.rawValue).joined(separator: " ")
    case .outbox(let reports):
      reports.map { "\($0.what) \(seconds($0.age))\($0.isAccepted ? " accepted" : "")" }.joined(separator: ", ")
    case .quarantine(let reports): reports.map { "\($0.id.low) \($0.reason)" }.joined(separator: ", ")
    case .done: "done"
    case .failed: "failed"
    case .report(let report): "report \(report.map { "\($0.metrics.elapsed.seconds)s" } ?? "none")"
    case .route(let part): "route \(part.map(line) ?? "none")"
    case .series(let series):
      "series \(series.map { "\($0.samples.count) samples, \($0.pauses.count) pauses" } ?? "none")"
    case .records(let summaries, let removed, let total):
      "records \(summaries.map { "\($0.runID.low)v\($0.version)" }.joined(separator: " ")) of \(total)"
        + removed.map { ", \($0.runID.low)v\($0.version) removed" }.joined()
    case .record(let part): "record \(part.runID.low): \(part.from)+\(part.bytes.count) of \(part.total)"
    case .taken(let isKnown): isKnown ? "known" : "taken"
    case .room(let answer): "room \(answer)"
    case .messages(let answer): "messages \(answer)"
    case .devices(let list):
      list.devices.map { "\($0.deviceID)\($0.isRevoked ? " revoked" : "")" }.joined(separator: " ")
    case .pairing(let report):
      switch report.stage {
      case .closed(let end): "pairing closed: \(end)"
      case .open: "pairing open"
      case .asking(let candidate):
        "\(candidate.deviceID) asks with \(name(candidate.key))\(candidate.isNameTaken ? ", a name that is taken" : "")"
      }
    }
  }

  /// The marks that have moved.
  static func marks(_ marks: [StreamID.Kind: StreamMark], _ prefix: String = "") -> String {
    marks.sorted { $0.key.rawValue < $1.key.rawValue }.filter { $0.value.sequence > 0 }
      .map { ", \(prefix)\($0.key.rawValue) \($0.value.sequence)" }.joined()
  }

  static func line(_ event: BusEvent) -> String {
    switch event {
    case .snapshot(let message): line(message.snapshot)
    case .command(let command, let device): "\(device): \(command.kind.rawValue)"
    case .receipt(let receipt, let device): "\(device): \(line(receipt))"
    case .presence(let presence): "\(presence.deviceID) \(presence.isReachable ? "here" : "gone")"
    case .message(let message): "\(message.to) has message \(message.id.low) of \(message.from)"
    case .route(let part): "route \(line(part))"
    case .live(let message): "live \(line(message.push))"
    case .room(let view): "room \(view.room.suffix(4)) \(view.stage.rawValue)"
    case .cue(let cue): "cue \(cue.kind.rawValue)"
    }
  }

  /// `push 3 numbers: 1.2.9 running 12 s`, with what waits.
  static func line(_ push: LivePush) -> String {
    let content = push.content
    let waits = content.pending.map { ", \($0.rawValue) waits" }.joined()
    return "push \(push.number) \(push.kind.rawValue): \(line(push.order)) \(content.phase.rawValue)"
      + "\(content.isRecovering ? " recovering" : "") \(seconds(content.clock.active))\(waits)"
  }

  static func line(_ activity: LiveActivity) -> String {
    let own = activity.pending.filter { !activity.push.content.pending.contains($0) }
    return "\(activity.isHubLost ? "lost " : activity.isStale ? "stale " : "")\(line(activity.push))"
      + own.map { ", \($0.rawValue) of its own waits" }.joined()
  }

  /// Whether an action belongs to lock screens, which have transcripts of their own.
  static func isOfLockScreens(_ action: HubCore.Action) -> Bool {
    switch action {
    case .showLive, .publish(.live): true
    default: false
    }
  }

  /// `1.3 run 7: 2+4 of 6`: term, number, run, first index, count of points, and total.
  static func line(_ part: RoutePart) -> String {
    "\(part.term).\(part.number) run \(part.runID.low): \(part.from)+\(part.points.count) of \(part.total)"
  }

  static func line(_ snapshot: Snapshot) -> String {
    "\(line(snapshot.order)) \(snapshot.phase.rawValue)\(snapshot.isRecovering ? " recovering" : "")"
  }

  static func line(_ order: SnapshotOrder) -> String { "\(order.term).\(order.revision).\(order.tick)" }

  static func line(_ receipt: Receipt) -> String {
    switch receipt.stage {
    case .queued: "\(receipt.kind.rawValue) queued"
    case .pending: "\(receipt.kind.rawValue) pending"
    case .verdict(let verdict): line(verdict)
    }
  }

  static func line(_ verdict: Verdict) -> String {
    let outcome =
      switch verdict.outcome {
      case .applied: "applied"
      case .coalesced: "coalesced"
      case .superseded: "superseded"
      case .rejected(.illegal(let phase)): "illegal while \(phase.rawValue)"
      case .rejected(let reason): reason.code
      case .unknown: "unknown"
      }
    return "\(verdict.kind.rawValue) \(outcome) \(verdict.revision)"
  }

  static func line(_ operation: StoreOperation) -> String {
    switch operation {
    case .setTerm(let term): "term \(term)"
    case .accept(let press, let admission): "accept \(press.command.kind.rawValue) \(admission.rawValue)"
    case .claim: "claim"
    case .reclassify(_, let admission): "reclassify \(admission.rawValue)"
    case .setWatermark(let stream, let mark): "\(stream.kind.rawValue) to \(mark.sequence)"
    case .forgetStream(let stream): "forget \(stream.kind.rawValue)"
    case .judge(let verdict, _, _): "judge \(line(verdict))"
    case .forgetVerdicts: "forget"
    case .append(_, let entry): line(entry)
    case .setAlias: "alias"
    case .setUnanswered(_, let since): since.map { "unanswered since \(seconds($0 - .zero))" } ?? "answered"
    case .discard: "discard"
    case .settle: "window"
    case .setClock: "clock"
    case .expectRecord: "expect record"
    case .forgetExpected: "forget record"
    case .keepRecord(let record, _): "record \(record.summary.version)"
    case .editRecord(let summary, _): "edit record \(summary.version)"
    case .removeRecord(_, let version, _): "remove record \(version)"
    case .skipChanges: "skip"
    case .setRecordsThrough(let number): "records to \(change(number))"
    case .endJournal: "end journal"
    case .dateRun: "date run"
    case .dropJournal: "drop journal"
    case .setStoreID: "store"
    case .setHub: "hub"
    case .setView(let view): "view \(line(view))"
    case .setFailureMark(let mark): "\(mark.duty)"
    case .meet(let device): "meet \(device.deviceID)"
    case .forgetDevice(let device): "forget \(device)"
    case .own(let store, let identity): "own \(store.low): \(identity)"
    case .disown(let store): "disown \(store.low)"
    case .pair(let device):
      "pair \(device.deviceID): \(name(device.key))\(device.isRevoked ? " revoked" : "")"
        + (device.nextKey.map { ", next \(name($0))" } ?? "")
    case .unpair(let key): "unpair \(name(key))"
    case .setMemberVersion(let version, let heard): "list \(version)\(heard > version ? ", heard \(heard)" : "")"
    case .enqueue(let row):
      row.item == nil ? "reserve \(name(row.stream)) \(row.sequence)" : "owe \(name(row.stream)) \(row.sequence)"
    case .acknowledge(let stream, let sequence): "acknowledged \(name(stream)) \(sequence)"
    case .remove(let stream, let sequence): "remove \(name(stream)) \(sequence)"
    case .tombstone(let stream, let sequence): "bury \(name(stream)) \(sequence)"
    case .countTries(let stream, let from, let through): "try \(name(stream)) \(from)...\(through)"
    case .renumber(let stream, _): "rebind \(name(stream))"
    case .drop(let stream): "drop \(name(stream))"
    case .shiftRows(let span): "shift \(seconds(span))"
    case .quarantine(let message): "quarantine \(message.message.id.low)"
    case .unquarantine(let id): "unquarantine \(id.low)"
    case .setLatest(let row): "set \(row.key) \(row.version)\(row.isAcknowledged ? " arrived" : "")"
    case .receiveLatest(let row): "take \(row.key) \(row.version)"
    case .keepRoom(let room, let rows): "keep \(rows.count) of room \(room.low)"
    case .forgetRoom(let room): "forget room \(room.low)"
    }
  }

  static func line(_ entry: LedgerEntry) -> String {
    switch entry.event {
    case .transition(let transition): "\(transition.kind.rawValue) at \(seconds(entry.time - .zero))"
    case .lap: "lap at \(seconds(entry.time - .zero))"
    case .sample(.heartRate(let bpm), let device): "\(device) \(Int(bpm)) bpm at \(seconds(entry.time - .zero))"
    case .sample(_, let device): "\(device) sample at \(seconds(entry.time - .zero))"
    case .setup(let setup): "setup \(setup) at \(seconds(entry.time - .zero))"
    case .gap(let duration): "gap of \(seconds(duration)) at \(seconds(entry.time - .zero))"
    }
  }

  private static func name(_ stream: OutboundStreamID) -> String { stream.kind.rawValue }

  static func seconds(_ duration: BusDuration) -> String { "\(duration.seconds)s" }

  /// Tests use a connection's name as its route.
  static func name(_ connection: ConnectionID) -> String { String(decoding: connection.route, as: UTF8.self) }
}

extension ConnectionID {
  static func named(_ name: String, isRequest: Bool = false) -> ConnectionID {
    ConnectionID(route: Array(name.utf8), isRequest: isRequest)
  }
}
