import Foundation
import SystemC

/// What a ``FaultProxy`` does on its thread.
struct ProxyWorker {
  private let control: ProxySocket
  private let events: ProxySocket
  private let hub: String
  private let hubPort: UInt16
  /// The port at which the hub publishes, from its last welcome if it was not given.
  private var hubEventsPort: UInt16?
  private let orders: ProxyOrders
  private let effects: EventLog<LinkFault.Kind>
  private var fault: LinkFault?
  private var faultEnds = ContinuousClock.now
  /// Whether the fault has had no effect yet.
  private var isFaultNew = false
  private var connections: [ProxyConnection] = []

  init(
    control: ProxySocket, events: ProxySocket, hub: String, hubPort: UInt16, hubEventsPort: UInt16?,
    orders: ProxyOrders, effects: EventLog<LinkFault.Kind>
  ) {
    (self.control, self.events, self.orders, self.effects) = (control, events, orders, effects)
    (self.hub, self.hubPort, self.hubEventsPort) = (hub, hubPort, hubEventsPort)
  }

  mutating func run() {
    while true {
      for order in orders.take() {
        switch order {
        case .fault(let fault, let until): begin(fault, until: until)
        case .heal: heal()
        case .end: return end()
        }
      }
      if fault != nil, faultEnds <= .now { heal() }
      turn()
    }
  }

  private mutating func end() {
    endConnections(reset: true)
    control.close()
    events.close()
  }

  // MARK: Faults

  private mutating func begin(_ fault: LinkFault, until: ContinuousClock.Instant) {
    heal()
    (self.fault, faultEnds, isFaultNew) = (fault, until, true)
    guard !connections.isEmpty else { return }
    switch fault {
    case .cut(let reset, midFrame: false):
      endConnections(reset: reset)
      tookEffect()
    case .corrupt(.greeting, _): endConnections(reset: true)
    case .halfOpen(let directions, _):
      for index in connections.indices { connections[index].swallow(directions) }
      tookEffect()
    case .cut, .delay, .throttle, .corrupt: break
    }
  }

  /// Forwards waiting data at once and closes connections that have lost bytes.
  private mutating func heal() {
    fault = nil
    isFaultNew = false
    for connection in connections where connection.isDoomed { connection.close(reset: true) }
    connections.removeAll { $0.isDoomed }
    for index in connections.indices {
      for direction in LinkFault.Direction.allCases { connections[index].flows[direction]?.release() }
    }
  }

  private mutating func tookEffect() {
    guard isFaultNew, let fault else { return }
    isFaultNew = false
    effects.append(fault.kind)
  }

  private mutating func endConnections(reset: Bool) {
    for connection in connections { connection.close(reset: reset) }
    connections = []
  }

  // MARK: Turns

  private enum Watched {
    case orders
    case listener(isControl: Bool)
    case connection(Int, LinkFault.Direction, isSource: Bool)
  }

  /// Waits until a socket is ready, and serves it.
  private mutating func turn() {
    var watched: [Watched] = [.orders, .listener(isControl: true), .listener(isControl: false)]
    var polled = [orders.wakeDescriptor, control.descriptor, events.descriptor].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let now = ContinuousClock.now
    var wakeAt = fault == nil ? now + .seconds(60) : faultEnds
    for (index, connection) in connections.enumerated() {
      for direction in LinkFault.Direction.allCases {
        guard let flow = connection.flows[direction] else { continue }
        if flow.takesMore {
          watched.append(.connection(index, direction, isSource: true))
          polled.append(pollfd(fd: connection.source(direction).descriptor, events: Int16(POLLIN), revents: 0))
        }
        guard let at = flow.nextAt else { continue }
        guard at <= now else {
          wakeAt = min(wakeAt, at)
          continue
        }
        watched.append(.connection(index, direction, isSource: false))
        polled.append(pollfd(fd: connection.target(direction).descriptor, events: Int16(POLLOUT), revents: 0))
      }
    }
    let milliseconds = Int32(clamping: Int64(((wakeAt - now) / .milliseconds(1)).rounded(.up)))
    guard poll(&polled, nfds_t(polled.count), max(0, milliseconds)) > 0 else { return }

    var broken: [Int: Bool] = [:]
    for (entry, watched) in zip(polled, watched) where entry.revents != 0 {
      switch watched {
      case .orders: break
      case .listener(let isControl): admit(isControl: isControl)
      case .connection(let index, let direction, let isSource):
        // A cut earlier in this turn has closed all connections.
        guard index < connections.count, broken[index] == nil else { break }
        let outcome = isSource ? read(index, direction) : flush(index, direction)
        switch outcome {
        case .goesOn: break
        case .ended(let reset): broken[index] = reset
        case .cut: return
        }
      }
    }
    for (index, reset) in broken.sorted(by: { $0.key > $1.key }) {
      connections[index].close(reset: reset)
      connections.remove(at: index)
    }
  }

  /// The result of serving a connection.
  private enum Outcome {
    case goesOn
    case ended(reset: Bool)
    /// All connections were closed.
    case cut
  }

  private mutating func admit(isControl: Bool) {
    guard let peer = (isControl ? control : events).accepted() else { return }
    if case .cut = fault, !isFaultNew { return peer.close(reset: true) }
    guard let port = isControl ? hubPort : hubEventsPort, let hub = ProxySocket.connecting(to: hub, port) else {
      return peer.close(reset: true)
    }
    var connection = ProxyConnection(peer: peer, hub: hub, isControl: isControl)
    if case .halfOpen(let directions, includesNew: true) = fault {
      connection.swallow(directions)
      tookEffect()
    }
    connections.append(connection)
  }

  private mutating func flush(_ index: Int, _ direction: LinkFault.Direction) -> Outcome {
    let target = connections[index].target(direction)
    guard connections[index].flows[direction]?.flush(to: target) == true else {
      guard connections[index].isDoomed else { return .ended(reset: true) }
      connections[index].flows[direction]?.abandon()
      return .goesOn
    }
    guard let flow = connections[index].flows[direction] else { return .goesOn }
    return flow.hasEnded && flow.queue.isEmpty ? .ended(reset: false) : .goesOn
  }

  private mutating func read(_ index: Int, _ direction: LinkFault.Direction) -> Outcome {
    let reading = connections[index].source(direction).read()
    // If a connection has lost bytes, its other side is not told that this one has closed.
    if connections[index].isDoomed {
      switch reading {
      case .ended, .failed: connections[index].flows[direction]?.hasEnded = true
      case .bytes(let bytes) where connections[index].flows[direction]?.isSwallowed != true:
        return handOn(bytes, index, direction)
      case .bytes, .notNow: break
      }
      return .goesOn
    }
    switch reading {
    case .notNow: return .goesOn
    case .failed: return .ended(reset: true)
    case .ended:
      connections[index].flows[direction]?.hasEnded = true
      return connections[index].flows[direction]?.queue.isEmpty == true ? .ended(reset: false) : .goesOn
    case .bytes(let bytes): return handOn(bytes, index, direction)
    }
  }

  // MARK: Bytes

  private mutating func handOn(_ bytes: ArraySlice<UInt8>, _ index: Int, _ direction: LinkFault.Direction) -> Outcome {
    switch fault {
    case .delay, .throttle: tookEffect()
    case .cut, .halfOpen, .corrupt, nil: break
    }
    for piece in connections[index].flows[direction]?.pieces.take(bytes) ?? [] {
      switch piece {
      case .greeting(let bytes, let offset): enqueue(spoiled(bytes, offset: offset, direction), index, direction)
      case .frame(var frame):
        if direction == .down, connections[index].isControl { redirect(&frame) }
        if case .cut(let reset, midFrame: true) = fault, isFaultNew {
          enqueue(Array(frame.bytes.prefix(frame.bytes.count / 2)), index, direction)
          _ = flush(index, direction)
          endConnections(reset: reset)
          tookEffect()
          return .cut
        }
        spoil(&frame, isControl: connections[index].isControl, direction)
        enqueue(frame.bytes, index, direction)
      }
    }
    return .goesOn
  }

  private mutating func enqueue(_ bytes: [UInt8], _ index: Int, _ direction: LinkFault.Direction) {
    connections[index].flows[direction]?.enqueue(bytes, under: fault)
  }

  private mutating func spoiled(
    _ greeting: [UInt8], offset: Int, _ direction: LinkFault.Direction
  ) -> [UInt8] {
    var greeting = greeting
    guard case .corrupt(.greeting(let place), direction) = fault, isFaultNew,
      greeting.indices.contains(place - offset)
    else { return greeting }
    greeting[place - offset] ^= 1
    tookEffect()
    return greeting
  }

  private mutating func spoil(_ frame: inout ZMTPPieces.Frame, isControl: Bool, _ direction: LinkFault.Direction) {
    // Events go up only as subscriptions, which are not protobuf.
    guard case .corrupt(let place, direction) = fault, isFaultNew, frame.isLastPart, !frame.body.isEmpty,
      isControl || direction == .down
    else { return }
    switch place {
    case .greeting: return
    case .header: frame.spoilHeader()
    case .body: frame.spoilBody()
    }
    tookEffect()
  }

  /// Replaces the hub's events port in a welcome by the port of this proxy.
  private mutating func redirect(_ frame: inout ZMTPPieces.Frame) {
    guard let range = frame.body.firstRange(of: Array("tcp://127.0.0.1:".utf8)) else { return }
    let digits = frame.bytes[range.upperBound...].prefix { (0x30...0x39).contains($0) }
    let own = Array(String(events.port).utf8)
    guard digits.count == own.count, let port = UInt16(String(decoding: digits, as: UTF8.self)) else { return }
    hubEventsPort = port
    frame.bytes.replaceSubrange(digits.startIndex..<digits.endIndex, with: own)
  }
}
