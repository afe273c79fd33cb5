  /// The watch's node: its buttons are those of the same run.
  static func watch(over link: Link, on loop: Loop) -> Peer {
    Peer(
      configuration: PeerConfiguration(deviceID: "watch", role: .watch), connector: link.watchEnd.connector,
      store: NodeStore(), loop: loop)
  }
}
