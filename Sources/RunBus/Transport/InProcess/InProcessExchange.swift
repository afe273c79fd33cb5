import RunCore
import Synchronization

/// The members of an in-process bus. It passes what one member sends to the others.
final class InProcessExchange: Sendable {
  static let controlEndpoint = "in-process:control"
  static let eventsEndpoint = "in-process:events"

  private struct Member {
    let box: InProcessBox<PeerTransportEvent>
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

    /// Gives a member a new route, which is never an old one: a frame to an old route has no recipient.
    mutating func link(_ number: UInt64) {
      lastRoute += 1
      let route = withUnsafeBytes(of: lastRoute.bigEndian) { Array($0) }
      members[number]?.route = route
      routes[route] = number
      _ = members[number]?.box.put(.linkUp, isBounded: false)
    }
  }

  // Events are queued while this is locked, so that all members receive them in the order in which they happened. That
  // cannot deadlock: a box locks only itself and its loop's queue.
  private let state = Mutex(State())

  func open(_ hub: InProcessBox<HubTransportEvent>) -> Bool {
    state.withLock { state in
      guard state.hub == nil else { return false }
      state.hub = hub
      for number in state.members.keys.sorted() {
        state.link(number)
        // Subscriptions outlive a hub, as those of a reconnecting socket do.
        for topic in state.members[number]?.topics ?? [] { _ = hub.put(.subscribed(topic), isBounded: false) }
      }
      return true
    }
  }

  func close(_ hub: InProcessBox<HubTransportEvent>) {
    hub.close()
    state.withLock { state in
      guard state.hub === hub else { return }
      state.hub = nil
      state.routes.removeAll()
      for number in state.members.keys.sorted() {
        state.members[number]?.route = nil
        _ = state.members[number]?.box.put(.linkDown(reason: "the hub closed the connection"), isBounded: false)
      }
    }
  }

  func join(_ box: InProcessBox<PeerTransportEvent>) -> UInt64 {
    state.withLock { state in
      state.lastMember += 1
      state.members[state.lastMember] = Member(box: box)
      if state.hub != nil { state.link(state.lastMember) }
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
      for topic in topics where !member.topics.contains(topic) {
        _ = state.hub?.put(.subscribed(topic), isBounded: false)
      }
    }
  }

  func publish(_ bytes: [UInt8], on topic: Topic, from hub: InProcessBox<HubTransportEvent>) {
    state.withLock { state in
      guard state.hub === hub else { return }
      for number in state.members.keys.sorted() {
        guard let member = state.members[number], member.topics.contains(topic) else { continue }
        // A full queue loses the event, like that of a SUB socket; a pong later tells the peer the present state.
        _ = member.box.put(.event(topic, bytes))
      }
    }
  }
}
