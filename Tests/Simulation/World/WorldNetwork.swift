import RunCore

// The network: frames are late, lost and repeated; links break, stand half open, or carry one way only. Frames keep
// their order on one connection, but not across connections.
extension World {
  mutating func connect(_ index: Int) {
    guard peers[index].core != nil, peers[index].connection == nil else { return }
    guard hub.core != nil else { return schedule(.linkUp(index), in: .milliseconds(200)) }
    guard isAdmitted(index) else { return schedule(.linkUp(index), in: .seconds(2)) }
    let connection = number()
    peers[index].connection = connection
    identities[connection] = peers[index].identity
    feedPeer(index, .linkUp)
  }

  mutating func disconnect(_ index: Int, isComing: Bool = true) {
    guard let number = peers[index].connection else { return }
    tally.count("link lost")
    peers[index].connection = nil
    peers[index].subscription = nil
    feedPeer(index, .linkDown)
    // The hub does not always notice.
    if Bool.random(using: &random) { schedule(.gone(life: hub.life, route(number)), in: milliseconds(0...3000)) }
    if isComing, Bool.random(using: &random) { schedule(.linkUp(index), in: milliseconds(0...8000)) }
  }

  /// The hub loses a link that the peer still uses.
  mutating func halfOpen(_ index: Int) {
    guard let number = peers[index].connection else { return }
    tally.count("link half open")
    schedule(.gone(life: hub.life, route(number)), in: .zero)
  }

  mutating func transmit(_ frame: PeerFrame, from index: Int) {
    guard let number = peers[index].connection else { return }
    guard !isHealed, !isCalm else {
      return schedule(.toHub(route(number), frame), in: delay(), after: "from \(number)")
    }
    if now < peers[index].muteUntil { return tally.count("mute for a while") }
    if chance(climate.frameRefusal) {
      tally.count("frame to the hub refused")
      return schedule(.sendFailed(.peer(index), life: peers[index].life, route(number)), in: .zero)
    }
    if chance(climate.frameLoss) { return tally.count("frame to the hub lost") }
    schedule(.toHub(route(number), frame), in: delay(), after: "from \(number)")
    if chance(Self.isHello(frame.message) ? min(climate.frameTwice, 5) : climate.frameTwice),
      Self.isRepeatable(frame.message)
    {
      tally.count(Self.isHello(frame.message) ? "hello twice" : "frame twice")
      schedule(.toHub(route(number), frame), in: delay(), after: "from \(number)")
    }
  }

  mutating func transmit(_ frame: HubFrame, to connection: ConnectionID) {
    let number = Self.number(of: connection)
    if WorldOwner.isStranger(number) { return hearStranger(frame, on: number) }
    if WrongParty.isWrong(number) { return hearWrong(frame, on: number) }
    guard let index = peers.indices.first(where: { peers[$0].connection == number }) else {
      if transmitToShell(frame, on: number) { return }
      return schedule(.gone(life: hub.life, connection), in: milliseconds(0...100))
    }
    let happening = Happening.toPeer(index, connection: number, read(frame))
    guard !isHealed, !isCalm else { return schedule(happening, in: delay(), after: "to \(number)") }
    if now < peers[index].deafUntil { return tally.count("deaf for a while") }
    if chance(climate.frameRefusal) {
      tally.count("frame to a peer refused")
      return schedule(.sendFailed(.hub, life: hub.life, connection), in: .zero)
    }
    if chance(climate.frameLoss) { return tally.count("frame to a peer lost") }
    schedule(happening, in: delay(), after: "to \(number)")
    if chance(climate.frameTwice), case .delivery(let message) = frame.message, Self.isRepeatable(message) {
      tally.count("frame twice")
      schedule(happening, in: delay(), after: "to \(number)")
    }
  }

  mutating func publish(_ event: BusEvent) {
    if !wrong.members.isEmpty { wrong.rumours.hear(event) }
    for index in peers.indices {
      guard let subscription = peers[index].subscription, topics(of: index).contains(event.topic) else { continue }
      // The next pong repairs a lost publication.
      if !isHealed, !isCalm, chance(climate.publicationLoss) || now < peers[index].deafUntil {
        tally.count("publication lost")
        continue
      }
      schedule(.published(index, subscription: subscription, event), in: delay(), after: "sub \(subscription)")
    }
  }

  /// Whether the network may deliver a message twice. A live message has no id to recognise it by, and the receiver
  /// of a `goBack` counts each one as a failure.
  private static func isRepeatable(_ message: DeliveryMessage) -> Bool {
    switch message {
    case .live, .goBack: false
    default: true
    }
  }

  static func isHello(_ message: PeerMessage) -> Bool {
    if case .hello = message { true } else { false }
  }

  private static func isRepeatable(_ message: PeerMessage) -> Bool {
    if case .delivery(let message) = message { return isRepeatable(message) }
    return true
  }

  func route(_ number: UInt64) -> ConnectionID {
    ConnectionID(route: CommandID(high: 0, low: number).bytes, isRequest: false)
  }

  /// A frame reaches the hub's socket.
  mutating func arrive(_ frame: PeerFrame, on connection: ConnectionID) {
    guard hub.core != nil else { return }
    let number = Self.number(of: connection)
    guard !WrongParty.isWrong(number) else {
      guard readsFrame(ofBytes: 200, by: wrong.identity) else { return tally.count("wrong frame not read") }
      return feedHub(.frame(connection, frame, by: wrong.identity))
    }
    if case .hello(let hello) = frame.message, let peer = peers.firstIndex(where: { $0.ownName == hello.deviceID }) {
      speakers[number] = (hello.storeID, peer)
    }
    noteBeat(frame, on: number)
    if case .samples(let samples) = frame.message, !connection.isRequest {
      if let speaker = speakers[number] {
        for sample in samples { arrived.insert(place(of: sample.sequence, .samples, from: speaker.store)) }
      }
    }
    // A plain request comes from a shell on the hub's machine.
    let identity = identities[number] ?? .localOwner
    guard readsFrame(ofBytes: 200, by: identity) else { return tally.count("frame not read") }
    guard let peer = speakers[number]?.peer, peer == climate.laterPeer, !connection.isRequest else {
      return feedHub(.frame(connection, frame, by: identity))
    }
    if chance(10) {
      tally.count("frame of an unknown kind")
      feedHub(.unknown(connection))
    }
    feedHub(read(frame, on: connection, by: identity))
  }

  /// A sequence number of a stream to the hub.
  func place(of sequence: UInt64, _ kind: StreamID.Kind, from store: StoreID) -> WorldPlace {
    WorldPlace(from: store, to: hub.store.storeID, kind: kind, sequence: sequence)
  }
}
