import RunBus

/// The two nodes of the stopwatch. In a real app each of them is in the app of its device.
enum Nodes {
  /// The phone's node: it holds the run.
  static func phone(over link: Link, on loop: Loop) -> Hub {
    Hub(
      configuration: HubConfiguration(deviceID: "phone"), listeners: [link.phoneEnd.listener],
      store: NodeStore(), loop: loop)
  }
}
