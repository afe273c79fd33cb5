/// A question to a node, or an order, with the type of its answer.
///
/// On its way it is an ``Inquiry``, and what comes back an ``InquiryAnswer``. Whoever asks sees neither:
///
/// ```swift
/// let waiting = try await node.ask(.outbox)  // [OutboxReport]
/// ```
package struct Question<Answer: Sendable>: Sendable {
  /// The question as the wire and the cores have it.
  package let inquiry: Inquiry
  private let read: @Sendable (InquiryAnswer) -> Answer?

  private init(_ inquiry: Inquiry, _ read: @escaping @Sendable (InquiryAnswer) -> Answer?) {
    self.inquiry = inquiry
    self.read = read
  }

  /// A question about messages.
  init(about inquiry: MessageInquiry, _ read: @escaping @Sendable (MessageAnswer) -> Answer?) {
    self.init(.messages(inquiry)) { if case .messages(let answer) = $0 { read(answer) } else { nil } }
  }

  /// What the answer says.
  ///
  /// - Throws: The failure that the node answered, or ``InquiryFailure/unknownAnswer`` for an answer to something else.
  package func content(of answer: InquiryAnswer) throws(InquiryFailure) -> Answer {
    if case .failed(let failure) = answer { throw failure }
    guard let content = read(answer) else { throw .unknownAnswer }
    return content
  }
}

extension Question where Answer == [PeerReport] {
  /// The devices that the hub knows, by name.
  package static var peers: Self { Self(.peers) { if case .peers(let reports) = $0 { reports } else { nil } } }
}

extension Question where Answer == [OutboxReport] {
  /// What waits in the node's outbox, oldest first; the samples for one receiver are one entry.
  package static var outbox: Self { Self(.outbox) { if case .outbox(let rows) = $0 { rows } else { nil } } }
}

extension Question where Answer == [QuarantineReport] {
  /// The messages in quarantine, oldest first.
  package static var quarantine: Self {
    Self(.quarantine) { if case .quarantine(let messages) = $0 { messages } else { nil } }
  }
}

extension Question where Answer == RunReport? {
  /// The numbers of the present run, with their parts; `nil` before the first run.
  package static var report: Self {
    // The cast keeps the absence of a run apart from an answer of another kind.
    Self(.report) { if case .report(let report) = $0 { .some(report) } else { nil } }
  }
}

extension Question where Answer == RoutePart? {
  /// The route of the present run from an index on; `nil` before the first run.
  package static func route(from: Int) -> Self {
    Self(.route(from: from)) { if case .route(let part) = $0 { .some(part) } else { nil } }
  }
}

extension Question where Answer == RunSeries? {
  /// The numbers of the present run over time; `nil` before the first run.
  package static var series: Self {
    Self(.series) { if case .series(let series) = $0 { .some(series) } else { nil } }
  }
}

/// Summaries of kept records and then removed runs, as many as fit an answer.
package struct RecordPage: Hashable, Sendable {
  /// Oldest first.
  package let kept: [RecordSummary]
  /// The runs that were removed, behind the last kept record.
  package let removed: [RecordRemoval]
  /// The number of both in all.
  package let total: Int

  /// A page from its parts.
  package init(kept: [RecordSummary], removed: [RecordRemoval], total: Int) {
    (self.kept, self.removed, self.total) = (kept, removed, total)
  }
}

extension Question where Answer == RecordPage {
  /// Kept records, oldest first, and then the runs that were removed, from an index on.
  package static func records(from: Int) -> Self {
    Self(.records(from: from)) {
      if case .records(let kept, let removed, let total) = $0 {
        RecordPage(kept: kept, removed: removed, total: total)
      } else {
        nil
      }
    }
  }
}

extension Question where Answer == RecordPart {
  /// The body of a kept record, from a byte on.
  package static func record(_ run: RunID, from: Int) -> Self {
    Self(.record(run, from: from)) { if case .record(let part) = $0 { part } else { nil } }
  }
}

extension Question where Answer == Bool {
  /// Gives the hub a part of a record to keep; whether it had the record already.
  package static func putRecord(_ upload: RecordUpload) -> Self {
    Self(.putRecord(upload)) { if case .taken(let isKnown) = $0 { isKnown } else { nil } }
  }
}

extension Question where Answer == DeviceList {
  /// The paired devices.
  package static var devices: Self { Self(.devices) { if case .devices(let list) = $0 { list } else { nil } } }
}

extension Question where Answer == PairingReport {
  /// Asks about the pairing of a device, or changes it.
  package static func pairing(_ order: PairingOrder) -> Self {
    Self(.pairing(order)) { if case .pairing(let report) = $0 { report } else { nil } }
  }
}

extension Question where Answer == MessageID {
  /// Sends a quarantined message again; its new id.
  package static func retry(_ message: MessageID) -> Self {
    Self(.retry(message)) { if case .done(let id) = $0 { id } else { nil } }
  }

  /// Posts a message as the node's own app would, in the numbered stream; its id.
  package static func post(_ message: AppMessage, to device: DeviceID?) -> Self {
    Self(.post(message, to: device)) { if case .done(let id) = $0 { id } else { nil } }
  }
}

extension Question where Answer == Void {
  private static func order(_ inquiry: Inquiry) -> Self { Self(inquiry) { if case .done = $0 { () } else { nil } } }

  /// Cancels what was never sent.
  package static func cancel(_ id: MessageID) -> Self { order(.cancel(id)) }
  /// Deletes a quarantined message.
  package static func discard(_ message: MessageID) -> Self { order(.discard(message)) }
  /// Decides what becomes of the run that was on when the hub died.
  package static func recover(_ answer: RecoveryAnswer) -> Self { order(.recover(answer)) }
  /// Changes title and note of a record; `nil` leaves the present text.
  package static func editRecord(_ run: RunID, title: String?, note: String?) -> Self {
    order(.editRecord(run, title: title, note: note))
  }
  /// Removes a record.
  package static func removeRecord(_ run: RunID) -> Self { order(.removeRecord(run)) }
  /// Changes the paired device of a key.
  package static func orderDevice(_ key: KeyFingerprint, _ order: DeviceOrder) -> Self {
    self.order(.orderDevice(key, order))
  }
  /// Confirms the list of paired devices.
  package static var confirmDevices: Self { order(.confirmDevices) }
  /// Announces a new key of the node, or with `now` uses it at once.
  package static func rotateKey(now: Bool) -> Self { order(.rotateKey(now: now)) }
  /// Copies the node's store into a new file at a path of its machine.
  package static func backUp(to path: String) -> Self { order(.backUp(to: path)) }
}

extension Question where Answer == RoomAnswer {
  /// Asks a hub to do something in a room. The same ask again gives its answer, or a later one.
  package static func room(_ ask: RoomAsk) -> Self {
    Self(.room(.ask(ask))) { if case .room(.answer(let answer)) = $0 { answer } else { nil } }
  }
}

extension Question where Answer == [RoomReport] {
  /// How the rooms stand that a hub follows, the one in which the runner has a place first.
  package static var rooms: Self {
    Self(.room(.reports)) { if case .room(.reports(let reports)) = $0 { reports } else { nil } }
  }
}
