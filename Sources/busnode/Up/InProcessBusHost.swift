import RunBus
import RunScripts
import Synchronization

/// The devices of `up --in-process`: a hub and its peers on shared loops, over links that are cut and restored, with
/// stores in memory. The hub also has the sockets of its bus, so that other commands find it.
final class InProcessBusHost: Sendable {
  /// How the nodes are set up.
  struct Setting: Sendable {
    var location: BusLocation
    var speed: BusSpeed
    var debounce: BusDuration
    var metrics: MetricsSettings
    /// What each device that has sensors plays.
    var timelines: [SpawnedNode: Timeline]
  }

  private struct State {
    var memories: [SpawnedNode: StoreMemory] = [:]
    var links: [SpawnedNode: InProcessLink] = [:]
    /// The devices that are cut off. Cutting the hub cuts all links.
    var cut: Set<SpawnedNode> = []
  }

  let setting: Setting
  private let hubNode: SpawnedNode
  private let inside = InProcessBus()
  private let loops: LoopGroup
  private let state = Mutex(State())

  /// - Throws: ``RunBusError/Code/transport`` when the system provides no threads.
  init(_ setting: Setting, devices: UpDevices) throws {
    (self.setting, hubNode) = (setting, devices.phone)
    loops = try LoopGroup()
  }

  /// Ends the loops.
  func stop() { loops.stop() }

  /// Makes a device's next node.
  func makeNode(_ device: UpDevice, life: Int) -> any UpNode {
    restore(device.node)
    return InProcessNode(device, life: life, host: self)
  }

  // MARK: Parts of nodes

  /// The hub of the bus.
  ///
  /// - Throws: ``RunBusError/Code/busHeld`` when the bus has another one.
  func hub(_ device: UpDevice) throws(RunBusError) -> Hub {
    let location = setting.location
    let lock = try HubLock.acquire(location, device: device.deviceID)
    return Hub(
      configuration: HubConfiguration(
        deviceID: device.deviceID, debounce: setting.debounce, speed: setting.speed, metrics: setting.metrics,
        recovery: .resume),
      listeners: [
        inside.listener, ZeroMQListener(control: location.controlEndpoint, events: location.eventsEndpoint),
      ],
      store: store(of: device.node), loop: loops.next(), locks: [lock],
      services: LocalServices(adminSocket: ZeroMQAdminSocketOpener(location: location, device: device.deviceID)))
  }

  func peer(_ device: UpDevice) -> Peer {
    let (role, topics): (NodeRole, [Topic]) =
      switch device.role {
      case .phone, .watch: (.watch, [.snapshots, .feed, .rooms])
      case .widget: (.widget, [.live])
      case .shell: (.shell, [.snapshots])
      }
    return Peer(
      configuration: PeerConfiguration(deviceID: device.deviceID, role: role, topics: topics),
      connector: inside.connector(over: link(of: device.node)), store: store(of: device.node), loop: loops.next())
  }

  private func store(of node: SpawnedNode) -> NodeStore {
    let memory = state.withLock { state in
      let memory = state.memories[node] ?? StoreMemory()
      state.memories[node] = memory
      return memory
    }
    return NodeStore(in: memory)
  }

  private func link(of node: SpawnedNode) -> InProcessLink {
    let link = state.withLock { state in
      let link = state.links[node] ?? InProcessLink()
      state.links[node] = link
      return link
    }
    update([node])
    return link
  }

  // MARK: Links

  /// Cuts a device off: a peer from the hub, the hub from all peers.
  func cut(_ node: SpawnedNode) {
    state.withLock { _ = $0.cut.insert(node) }
    update(node == hubNode ? nil : [node])
  }

  /// Brings back a device that was cut off.
  func restore(_ node: SpawnedNode) {
    guard state.withLock({ $0.cut.remove(node) }) != nil else { return }
    update(node == hubNode ? nil : [node])
  }

  /// Cuts or restores the links of some devices, or of all.
  private func update(_ nodes: [SpawnedNode]?) {
    state.withLock { state in
      let isHubCut = state.cut.contains(hubNode)
      for node in nodes ?? Array(state.links.keys) {
        guard let link = state.links[node] else { continue }
        if isHubCut || state.cut.contains(node) { inside.cut(link) } else { inside.restore(link) }
      }
    }
  }
}
