package import CoreMetrics

/// What a node counts and measures for operators, by its name in swift-metrics. docs/operating.md lists all of them.
///
/// No value says where or how fast somebody runs.
package enum MeterName: String, CaseIterable, Sendable {
  /// Verdicts of the hub on presses, by what they say.
  case verdicts = "runbus.verdicts"
  /// Changes of the run's phase, by the new one.
  case transitions = "runbus.transitions"
  /// Devices that came into the hub's reach.
  case joins = "runbus.joins"
  /// Senders that the hub refused, by the reason's code.
  case refusals = "runbus.refusals"
  /// From the order to write until the store has it.
  case commits = "runbus.commit"
  /// Batches that the store refused and that are written again.
  case failedCommits = "runbus.failed_commits"
  /// Frames of this hub's peers that are none.
  case hubGarbage = "runbus.hub.garbage_frames"
  /// Frames of a kind that this hub does not know.
  case hubUnknown = "runbus.hub.unknown_frames"
  /// Acts of paired devices that their rights do not cover.
  case forbidden = "runbus.hub.forbidden"
  /// Frames of the hub that are none.
  case peerGarbage = "runbus.peer.garbage_frames"
  /// Frames and events of a kind that this peer does not know.
  case peerUnknown = "runbus.peer.unknown_frames"
  /// Messages of ZeroMQ that are no frame.
  case zeroMQGarbage = "runbus.zeromq.garbage_messages"
  /// Connections whose key is not let in.
  case refusedKeys = "runbus.zeromq.refused_keys"
  /// Events that did not fit the queue of a subscriber.
  case overflows = "runbus.zeromq.subscriber_overflows"
  /// Connections that ended before their handshake did.
  case failedHandshakes = "runbus.zeromq.failed_handshakes"
  /// Connections that the hub ended because of what they cost.
  case cutOffs = "runbus.zeromq.cut_offs"
  /// Messages of several parts that did not end.
  case unfinishedMessages = "runbus.zeromq.unfinished_messages"
  /// What a bridge brought that is no frame.
  case bridgeGarbage = "runbus.bridge.garbage_messages"

  /// One line on what it means.
  package var help: String {
    switch self {
    case .verdicts: "Verdicts of the hub on presses, by what they say."
    case .transitions: "Changes of the run's phase, by the new one."
    case .joins: "Devices that came into the hub's reach."
    case .refusals: "Senders that the hub refused, by the reason's code."
    case .commits: "From the order to write until the store has it."
    case .failedCommits: "Batches that the store refused and that are written again."
    case .hubGarbage: "Frames of peers that are none."
    case .hubUnknown: "Frames of a kind that the hub does not know."
    case .forbidden: "Acts of paired devices that their rights do not cover."
    case .peerGarbage: "Frames of the hub that are none."
    case .peerUnknown: "Frames and events of a kind that the peer does not know."
    case .zeroMQGarbage: "Messages of ZeroMQ that are no frame."
    case .refusedKeys: "Connections whose key is not let in."
    case .overflows: "Events that did not fit the queue of a subscriber."
    case .failedHandshakes: "Connections that ended before their handshake did."
    case .cutOffs: "Connections that the hub ended because of what they cost."
    case .unfinishedMessages: "Messages of several parts that did not end."
    case .bridgeGarbage: "What a bridge brought that is no frame."
    }
  }
}

extension Counter {
  /// A counter of a node.
  package convenience init(_ name: MeterName, _ dimensions: [(String, String)] = []) {
    self.init(label: name.rawValue, dimensions: dimensions)
  }
}

extension CoreMetrics.Timer {
  /// A timer of a node.
  package convenience init(_ name: MeterName) { self.init(label: name.rawValue) }
}
