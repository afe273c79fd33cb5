import RunCore
import SwiftProtobuf

// Frames from the hub to one peer.
extension Codec {
  static func message(_ frame: HubFrame, within limits: ConnectionLimits) -> WireHubFrame {
    var message = WireHubFrame()
    message.session = frame.session
    switch frame.message {
    case .welcome(let welcome): message.message = .welcome(self.message(welcome))
    case .refused(let refusal): message.message = .refused(self.message(refusal))
    case .receipt(let receipt): message.message = .receipt(self.message(receipt))
    case .delivery(let delivery): message.message = .delivery(self.message(delivery))
    case .pong(let number, let order, let recordsThrough):
      var pong = WirePong()
      pong.recordsThrough = recordsThrough
      pong.number = number
      pong.order = self.message(order)
      message.message = .pong(pong)
    case .state(let state): message.message = .state(self.message(state))
    case .answer(let answer): message.message = .answer(self.message(answer, within: limits))
    case .recordChange(let change): message.message = .recordChange(self.message(change))
    case .pairing(let answer): message.message = .pairing(self.message(answer))
    case .room(let ask, let answer): message.message = .room(bytes(answer, to: ask))
    case .goodbye: message.message = .goodbye(WireGoodbye())
    }
    return message
  }

  static func value(_ message: WireHubFrame) throws(WireError) -> HubFrame {
    let content: HubMessage
    switch message.message {
    case .welcome(let welcome): content = .welcome(try value(welcome))
    case .refused(let refusal): content = .refused(try value(refusal))
    case .receipt(let receipt): content = .receipt(try value(receipt))
    case .delivery(let delivery): content = .delivery(try value(delivery))
    case .pong(let pong):
      guard pong.hasOrder else { throw .malformed("pong without the newest publication") }
      content = .pong(
        pong.number, try value(pong.order), recordsThrough: try counter(pong.recordsThrough, "change of records"))
    case .state(let state): content = .state(try value(state))
    case .answer(let answer): content = .answer(try value(answer))
    case .recordChange(let change): content = .recordChange(try value(change))
    case .pairing(let answer): content = .pairing(try value(answer))
    case .room(let bytes):
      let (ask, answer) = try roomAnswered(bytes)
      content = .room(ask, answer)
    case .goodbye: content = .goodbye
    case nil: throw .unknown("a kind of frame")
    }
    return HubFrame(session: message.session, message: content)
  }

  private static func message(_ welcome: Welcome) -> WireWelcome {
    var message = WireWelcome()
    message.nonce = welcome.nonce
    message.nodeID = data(welcome.nodeID)
    message.storeID = data(welcome.storeID)
    message.deviceID = welcome.deviceID.rawValue
    message.eventsEndpoint = welcome.eventsEndpoint
    message.speedThousandths = welcome.speed.thousandths
    message.debounceNs = welcome.debounce.nanoseconds
    message.received = messages(welcome.received)
    message.state = self.message(welcome.state)
    message.recordsThrough = welcome.recordsThrough
    if let enrolment = welcome.enrolment { message.enrolment = self.message(enrolment) }
    return message
  }

  private static func value(_ message: WireWelcome) throws(WireError) -> Welcome {
    guard let speed = BusSpeed(thousandths: message.speedThousandths) else { throw .malformed("speed is out of range") }
    guard message.hasState else { throw .malformed("welcome without the state") }
    return Welcome(
      nonce: message.nonce, nodeID: try identifier(message.nodeID, "node id"),
      storeID: try identifier(message.storeID, "store id"), deviceID: try device(message.deviceID),
      eventsEndpoint: try text(message.eventsEndpoint, "events endpoint", bytesMax: endpointBytesMax), speed: speed,
      debounce: try span(message.debounceNs, "debounce"),
      received: try marks(message.received), state: try value(message.state),
      recordsThrough: try counter(message.recordsThrough, "change of records"),
      enrolment: message.hasEnrolment ? try value(message.enrolment) : nil)
  }

  private static func message(_ refusal: Refusal) -> WireRefusal {
    var message = WireRefusal()
    switch refusal.code {
    case .versionMismatch: message.code = .versionMismatch
    case .unknownSession: message.code = .unknownSession
    case .malformed: message.code = .malformed
    case .busy: message.code = .busy
    case .storeRegressed: message.code = .storeRegressed
    case .forbidden: message.code = .forbidden
    case .listBehind: message.code = .listBehind
    case .tooFast: message.code = .tooFast
    case .storeBehind: message.code = .storeBehind
    case .unknown: message.code = .unspecified
    }
    message.message = fitting(refusal.message, bytesMax: messageBytesMax)
    message.version = refusal.version
    return message
  }

  private static func value(_ message: WireRefusal) throws(WireError) -> Refusal {
    let code: Refusal.Code
    switch message.code {
    case .versionMismatch: code = .versionMismatch
    case .unknownSession: code = .unknownSession
    case .malformed: code = .malformed
    case .busy: code = .busy
    case .storeRegressed: code = .storeRegressed
    case .forbidden: code = .forbidden
    case .listBehind: code = .listBehind
    case .tooFast: code = .tooFast
    case .storeBehind: code = .storeBehind
    case .unspecified, .UNRECOGNIZED: code = .unknown
    }
    return Refusal(
      code: code, message: try text(message.message, "refusal", bytesMax: messageBytesMax), version: message.version)
  }
}
