import RunBus

extension Node {
  /// Asks the node's core, as a shell does over the admin socket.
  func ask(_ inquiry: Inquiry) async -> InquiryAnswer {
    switch self {
    case let hub as Hub: await hub.ask(inquiry)
    case let peer as Peer: await peer.ask(inquiry)
    default: .failed("neither a hub nor a peer")
    }
  }
}
