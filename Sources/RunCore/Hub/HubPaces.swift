// How fast the devices of keys may be (``PacedKind``).
extension HubCore {
  /// Whether a frame is to be read at all. The driver asks before it decodes one: what is beyond the pace costs no more
  /// than that question. A frame that is not read is as good as lost on the way, so its sender sends again what has to
  /// arrive. Short frames such as pings get through beside long ones that do not.
  package mutating func readsFrame(ofBytes count: Int, by identity: ConnectionIdentity, at now: BusTime) -> Bool {
    admits(.frames, identity, cost: 1 + count / PacedKind.bytesOfFrame, at: now)
  }

  /// What the log says of frames that are not read.
  package static let tooManyFrames = "it sends more frames than the hub reads of a device"

  /// Whether the sender may do one thing more; always for those that are no paired device.
  mutating func admits(_ kind: PacedKind, _ identity: ConnectionIdentity, cost: Int = 1, at now: BusTime) -> Bool {
    guard case .key(let key) = identity, let device = members.device(of: key) else { return true }
    return paces.admits(kind, device.deviceID, cost: cost, at: monotonic(at: now))
  }

  /// Whether a question may be answered now. A question about the run costs more when late readings have made the hub
  /// forget a part of the fold.
  mutating func admitsQuestion(_ inquiry: Inquiry?, by identity: ConnectionIdentity, at now: BusTime) -> Bool {
    let folds =
      switch inquiry {
      case .report, .route, .series: ledger.unfoldedCount / PacedKind.entriesOfQuestion
      default: 0
      }
    return admits(.questions, identity, cost: 1 + folds, at: now)
  }

  /// The refusal message for what is beyond a pace.
  static func tooFast(_ kind: PacedKind) -> String {
    "too many \(kind.rawValue): \(kind.burst) come at once from a device, and then \(perSecond(kind)); come again later"
  }

  private static func perSecond(_ kind: PacedKind) -> String {
    kind.perSecond >= 1 ? "\(Int(kind.perSecond)) a second" : "one in \(Int((1 / kind.perSecond).rounded())) seconds"
  }

  /// Whether the hub handles what a peer sends on its streams, or says about the hub's streams.
  mutating func admits(_ message: DeliveryMessage, of session: SessionTable.Session, at now: BusTime) -> Bool {
    switch message {
    case .messages(let transmissions):
      // What is sent again is known and costs little.
      let known = mail.receivedMark(of: session.hello.storeID)
      let fresh = transmissions.count { $0.sequence > known }
      return fresh == 0 || admits(.messages, session.identity, cost: fresh, at: now)
    case .latest, .live, .tombstones: return admits(.messages, session.identity, at: now)
    // The hub sends again by itself what is not acknowledged in time.
    case .goBack: return admits(.questions, session.identity, at: now)
    case .acknowledge, .delivered, .acknowledgeLatest, .refuseLatest, .verdicts: return true
    }
  }
}
