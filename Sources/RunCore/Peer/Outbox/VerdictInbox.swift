/// Receives the hub's stream of verdicts. It decides which verdicts are new, and how much of the stream the peer may
/// acknowledge: only what is durable here, because the hub deletes what is acknowledged.
struct VerdictInbox: Sendable {
  /// The hub's stream; `nil` for a peer without a hub, which keeps no mark.
  private var stream: StreamID?
  /// How far the stream was received, and the durable part of that.
  private var received: Watermark
  private(set) var durable: StreamMark
  /// Grows whenever the stream begins anew. Completions of writes for the earlier stream are ignored.
  private var bindingGeneration: UInt64 = 0

  /// An inbox from its stored mark.
  init(from hub: StoreID?, durable: StreamMark) {
    stream = hub.map { StreamID(sender: $0, kind: .verdicts) }
    self.durable = durable
    received = Watermark(durable)
  }

  /// Says how far the stream is durable here.
  var acknowledgement: DeliveryMessage { .acknowledge(.verdicts, through: durable.sequence) }

  /// Stores how far the stream was received, together with what the verdicts change. A peer without a hub keeps no mark.
  func keep(with operations: [StoreOperation], in turn: inout PeerCore.Turn) {
    guard let stream else { return }
    let mark = received.mark
    turn.write(
      operations + [.setWatermark(stream, mark)],
      then: [.processed(stream, mark, bindingGeneration: bindingGeneration)], isUrgent: false)
  }

  /// Whether a verdict of the stream was received before.
  func knows(_ transmission: VerdictTransmission) -> Bool { received.position(of: transmission.sequence) == .known }

  /// Receives verdicts, in order.
  ///
  /// - Returns: whether any is new, and the receipts of the new ones. Known ones and those behind a gap are left out. A
  ///   new one that this version cannot read has no receipt.
  mutating func receive(_ transmissions: [VerdictTransmission]) -> (isNews: Bool, receipts: [Receipt]) {
    var (isNews, receipts) = (false, [Receipt]())
    for transmission in transmissions {
      let mark = StreamMark(sequence: transmission.sequence, id: transmission.commandID.message)
      switch received.receive(mark) {
      case .next:
        isNews = true
        if let receipt = transmission.receipt { receipts.append(receipt) }
      case .known, .gap: continue
      }
    }
    return (isNews, receipts)
  }

  /// Receives a range of tombstones.
  ///
  /// - Returns: whether it is news.
  mutating func skip(from: UInt64, through: UInt64) -> Bool {
    guard received.reaches(from), through > received.sequence else { return false }
    received.skip(through: through)
    return true
  }

  /// The stream is durably processed up to this mark.
  ///
  /// - Returns: whether the mark belongs to the present stream, and so is to be acknowledged.
  mutating func makeProcessed(_ mark: StreamMark, bindingGeneration: UInt64) -> Bool {
    guard bindingGeneration == self.bindingGeneration else { return false }
    if mark.sequence > durable.sequence { durable = mark }
    return true
  }

  /// Begins the stream of another hub, or the same hub's new stream to this peer's new store.
  mutating func renumber(from hub: StoreID) {
    stream = StreamID(sender: hub, kind: .verdicts)
    received = Watermark()
    durable = .start
    bindingGeneration += 1
  }
}
