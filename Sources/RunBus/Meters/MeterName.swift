package import CoreMetrics

/// What a node counts and measures for operators, by its name in swift-metrics. ``help`` says what each is, and
/// docs/operating.md lists all of them.
///
/// No value contains the position or the speed of a runner.
package enum MeterName: String, CaseIterable, Sendable {
  case verdicts = "runbus.verdicts"
  case transitions = "runbus.transitions"
  case joins = "runbus.joins"
  case refusals = "runbus.refusals"
  case commits = "runbus.commit"
  case failedCommits = "runbus.failed_commits"
  case retransmissions = "runbus.retransmissions"
  case duplicates = "runbus.duplicates"
  case hubGarbage = "runbus.hub.garbage_frames"
  case hubUnknown = "runbus.hub.unknown_frames"
  case forbidden = "runbus.hub.forbidden"
  case peerGarbage = "runbus.peer.garbage_frames"
  case peerUnknown = "runbus.peer.unknown_frames"
  case zeroMQGarbage = "runbus.zeromq.garbage_messages"
  case refusedKeys = "runbus.zeromq.refused_keys"
  case overflows = "runbus.zeromq.subscriber_overflows"
  case failedHandshakes = "runbus.zeromq.failed_handshakes"
  case cutOffs = "runbus.zeromq.cut_offs"
  case unfinishedMessages = "runbus.zeromq.unfinished_messages"
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
    case .retransmissions: "Presses, verdicts, readings and messages that were sent again."
    case .duplicates: "Presses, verdicts, readings and messages that came though they were here already."
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
