import RunCore
import Synchronization

/// The members of an in-process bus. It passes what one member sends to the others.
final class InProcessExchange: Sendable {
  static let controlEndpoint = "in-process:control"
  static let eventsEndpoint = "in-process:events"

  private struct Member {
    let box: InProcessBox<PeerTransportEvent>
    let link: InProcessLink?
    /// The route of the connection to the present hub. Each hub gets a new one, as after a reconnect of a socket.
    var route: [UInt8]?
    var topics: [Topic] = []
  }
  private struct State {
    var hub: InProcessBox<HubTransportEvent>?
    var members: [UInt64: Member] = [:]
    var routes: [[UInt8]: UInt64] = [:]
    var lastMember: UInt64 = 0
    var lastRoute: UInt64 = 0
    /// The links that do not carry now.
    var cut: [ObjectIdentifier: InProcessLink] = [:]

    /// Gives a member a new route, which is never an old one: a frame to an old route has no recipient. A member
    /// without a hub, or on a link that is cut, gets none.
    mutating func link(_ number: UInt64) {
      guard let hub, let member = members[number] else { return }
      if let link = member.link, cut[ObjectIdentifier(link)] != nil { return }
      lastRoute += 1
      let route = withUnsafeBytes(of: lastRoute.bigEndian) { Array($0) }
      members[number]?.route = route
      routes[route] = number
      _ = member.box.put(.linkUp, isBounded: false)
      // Subscriptions outlive a connection, as those of a reconnecting socket do.
      for topic in member.topics { _ = hub.put(.subscribed(topic), isBounded: false) }
    }

    /// Takes a member's route away.
    mutating func unlink(_ number: UInt64, reason: String) {
      guard let member = members[number], let route = member.route else { return }
      members[number]?.route = nil
      routes[route] = nil
      _ = member.box.put(.linkDown(reason: reason), isBounded: false)
    }

    func members(on link: InProcessLink) -> [UInt64] { members.filter { $1.link === link }.keys.sorted() }
  }

  // Events are queued while this is locked, so that all members receive them in the order in which they happened. That
  // cannot deadlock: a box locks only itself and its loop's queue.
  private let state = Mutex(State())

  func open(_ hub: InProcessBox<HubTransportEvent>) -> Bool {
    state.withLock { state in
      guard state.hub == nil else { return false }
      state.hub = hub
      for number in state.members.keys.sorted() { state.link(number) }
      return true
    }
  }

  func close(_ hub: InProcessBox<HubTransportEvent>) {
    hub.close()
    state.withLock { state in
      guard state.hub === hub else { return }
      state.hub = nil
      for number in state.members.keys.sorted() { state.unlink(number, reason: "the hub closed the connection") }
    }
  }

  func cut(_ link: InProcessLink) {
    state.withLock { state in
      state.cut[ObjectIdentifier(link)] = link
      for number in state.members(on: link) { state.unlink(number, reason: "the link was cut") }
    }
  }

  func restore(_ link: InProcessLink) {
    state.withLock { state in
      guard state.cut.removeValue(forKey: ObjectIdentifier(link)) != nil else { return }
      for number in state.members(on: link) { state.link(number) }
    }
  }

  func join(_ box: InProcessBox<PeerTransportEvent>, over link: InProcessLink?) -> UInt64 {
    state.withLock { state in
      state.lastMember += 1
      state.members[state.lastMember] = Member(box: box, link: link)
      state.link(state.lastMember)
      return state.lastMember
    }
  }

  func leave(_ number: UInt64) {
    // Released after the lock is free: releasing a box may release its owner, which calls back.
    let member = state.withLock { state in
      let member = state.members.removeValue(forKey: number)
      if let route = member?.route { state.routes[route] = nil }
      return member
    }
    _ = member
  }

  func send(_ bytes: [UInt8], from number: UInt64) -> SendOutcome {
    state.withLock { state in
      guard let hub = state.hub, let route = state.members[number]?.route,
        bytes.count <= TransportLimits.frameBytesMax
      else { return .gone }
      let connection = ConnectionID(route: route, isRequest: false)
      return hub.put(.frame(connection, bytes, by: .localOwner)) ? .sent : .full
    }
  }

  func send(
    _ bytes: [UInt8], from hub: InProcessBox<HubTransportEvent>, to connection: ConnectionID
  ) -> SendOutcome {
    state.withLock { state in
      guard state.hub === hub, let number = state.routes[connection.route], let member = state.members[number],
        bytes.count <= TransportLimits.frameBytesMax
      else { return .gone }
      return member.box.put(.frame(bytes)) ? .sent : .full
    }
  }

  func subscribe(_ number: UInt64, to endpoint: String, topics: [Topic]) {
    state.withLock { state in
      guard let member = state.members[number] else { return }
      let topics = endpoint == Self.eventsEndpoint ? topics : []
      state.members[number]?.topics = topics
      // A member without a connection subscribes when it gets one.
      for topic in topics where member.route != nil && !member.topics.contains(topic) {
        _ = state.hub?.put(.subscribed(topic), isBounded: false)
      }
    }
  }

  func publish(_ bytes: [UInt8], on topic: Topic, from hub: InProcessBox<HubTransportEvent>) {
    state.withLock { state in
      guard state.hub === hub else { return }
      for number in state.members.keys.sorted() {
        guard let member = state.members[number], member.route != nil, member.topics.contains(topic) else { continue }
        // A full queue loses the event, like that of a SUB socket; a pong later tells the peer the present state.
        _ = member.box.put(.event(topic, bytes))
      }
    }
  }
}
