import Foundation
import RunCore
import SwiftProtobuf

// What the hub publishes to all subscribers.
extension Codec {
  static func message(_ event: BusEvent) -> WireBusEvent {
    var message = WireBusEvent()
    switch event {
    case .snapshot(let state): message.event = .snapshot(self.message(state))
    case .command(let command, let device):
      var event = WireCommandEvent()
      event.command = self.message(command)
      event.deviceID = device.rawValue
      message.event = .command(event)
    case .receipt(let receipt, let device):
      var event = WireReceiptEvent()
      event.receipt = self.message(receipt)
      event.deviceID = device.rawValue
      message.event = .receipt(event)
    case .presence(let presence):
      var event = WirePresence()
      event.deviceID = presence.deviceID.rawValue
      event.role = presence.role.rawValue
      event.reachable = presence.isReachable
      message.event = .presence(event)
    case .message(let told): message.event = .message(self.message(told))
    case .route(let part): message.event = .route(self.message(part))
    case .live(let live): message.event = .live(self.message(live))
    case .room(let view): message.event = .room(bytes(view))
    case .cue(let cue): message.event = .cue(bytes(cue))
    }
    return message
  }

  private static func message(_ told: MessageEvent) -> WireMessageEvent {
    var message = WireMessageEvent()
    message.id = data(told.id)
    message.name = told.name
    message.from = told.from.rawValue
    message.to = told.to.rawValue
    message.size = UInt32(clamping: told.size)
    return message
  }

  private static func value(_ message: WireMessageEvent) throws(WireError) -> MessageEvent {
    guard message.size <= AppMessage.bodyMax else { throw .malformed("message event of a body that is too long") }
    return MessageEvent(
      id: try identifier(message.id, "message id"), name: try name(message.name, "message name"),
      from: try device(message.from), to: try device(message.to), size: Int(message.size))
  }

  static func value(_ message: WireBusEvent) throws(WireError) -> BusEvent {
    switch message.event {
    case .snapshot(let state): return .snapshot(try value(state))
    case .command(let event):
      guard event.hasCommand else { throw .malformed("command event without a command") }
      do {
        return .command(try value(event.command), try device(event.deviceID))
      } catch .unsupportedKind {
        throw .unknown("a kind of command")
      }
    case .receipt(let event):
      guard event.hasReceipt else { throw .malformed("receipt event without a receipt") }
      return .receipt(try value(event.receipt), try device(event.deviceID))
    case .presence(let event):
      return .presence(
        Presence(
          deviceID: try device(event.deviceID), role: try role(event.role), isReachable: event.reachable))
    case .message(let told): return .message(try value(told))
    case .route(let part): return .route(try value(part))
    case .live(let live): return .live(try value(live))
    case .room(let bytes): return .room(try roomView(bytes))
    case .cue(let bytes): return .cue(try roomCue(bytes))
    case nil: throw .unknown("a kind of event")
    }
  }
}
