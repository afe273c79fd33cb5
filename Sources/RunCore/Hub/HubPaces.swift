// How fast the devices of keys may be (``PacedKind``).
extension HubCore {
  /// Whether a frame is to be read at all. The driver asks before it decodes one: what is beyond the pace costs no more
  /// than that question. A frame that is not read is as good as lost on the way, so its sender sends again what has to
  /// arrive. Short frames such as pings get through beside long ones that do not.
  package mutating func readsFrame(ofBytes count: Int, by identity: ConnectionIdentity, at now: BusTime) -> Bool {
    members.admits(.frames, identity, cost: 1 + count / PacedKind.bytesOfFrame, at: now)
  }

  /// What the log says of frames that are not read.
  package static let tooManyFrames = "it sends more frames than the hub reads of a device"

  /// Whether a question may be answered now. A question about the run costs more when late readings have made the hub
  /// forget a part of the fold.
  mutating func admitsQuestion(_ inquiry: Inquiry?, by identity: ConnectionIdentity, at now: BusTime) -> Bool {
    let folds =
      switch inquiry {
      case .report, .route, .series: ledger.unfoldedCount / PacedKind.entriesOfQuestion
      default: 0
      }
    return members.admits(.questions, identity, cost: 1 + folds, at: now)
  }

  /// Whether the hub handles what a peer sends on its streams, or says about the hub's streams.
  mutating func admits(_ message: DeliveryMessage, of session: SessionTable.Session, at now: BusTime) -> Bool {
    switch message {
    case .messages(let transmissions):
      // What is sent again is known and costs little.
      let known = mail.receivedMark(of: session.hello.storeID)
      let fresh = transmissions.count { $0.sequence > known }
      return fresh == 0 || members.admits(.messages, session.identity, cost: fresh, at: now)
    case .latest, .live, .tombstones: return members.admits(.messages, session.identity, at: now)
    // The hub sends again by itself what is not acknowledged in time.
    case .goBack: return members.admits(.questions, session.identity, at: now)
    case .acknowledge, .delivered, .acknowledgeLatest, .refuseLatest, .verdicts: return true
    }
  }
}
