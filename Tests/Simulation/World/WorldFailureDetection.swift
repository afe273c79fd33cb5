import RunCore

/// What a peer of a simulated world should conclude from its hub's silence.
struct WorldFailureDetection {
  /// When a frame or event of the hub last reached it, or its present incarnation began.
  var heardAt = BusTime.zero
  /// Whether the app was told of this silence.
  var isTold = false
  /// Whether the hub's last frame was a goodbye.
  var isDismissed = false
  /// Its disk has failed in this silence, so its next incarnation may not know what the app was told.
  var hasFailed = false
}

/// A ping that has reached the hub of a simulated world.
struct WorldBeat {
  /// The hub's incarnation, and the connection of the peer's last hello.
  let life: UInt64
  let connection: UInt64
  /// The hub's monotonic clock at the arrival of the last ping, and what the ping stated; `nil` before the first.
  var last: (heardAt: BusTime, nextWithin: BusDuration)?
}

// A peer counts as unreachable only after three times what its last ping stated.
extension World {
  mutating func noteBeat(_ frame: PeerFrame, on connection: UInt64) {
    guard let peer = speakers[connection]?.peer else { return }
    switch frame.message {
    case .hello: beats[peer] = WorldBeat(life: hub.life, connection: connection)
    case .ping(_, let nextWithin, _):
      guard var beat = beats[peer], beat.life == hub.life, beat.connection == connection else { return }
      beat.last = (hubNow, nextWithin)
      beats[peer] = beat
    default: break
    }
  }

  /// The hub learns that a connection is gone. What is left of its device may be an older session, silent for longer.
  mutating func endBeats(on connection: UInt64) { beats = beats.filter { $0.value.connection != connection } }

  /// Checks the hub's word that a device is silent. Where wrong members take part, the session may not be the peer's.
  mutating func checkSilence(of device: DeviceID) {
    tally.count("device silent")
    guard wrong.members.isEmpty, let index = peers.firstIndex(where: { $0.name == device }) else { return }
    guard let beat = beats[index], beat.life == hub.life, let last = beat.last else { return }
    let silence = hubNow - last.heardAt
    guard silence < last.nextWithin + last.nextWithin + last.nextWithin - .milliseconds(1) else { return }
    faults.append("peer \(index) counts as silent after \(silence), and stated \(last.nextWithin)")
  }
}

// The alarm: once in a silence, only during one, and never after a goodbye.
extension World {
  static let hubLostAfter = BusDuration.seconds(7)

  mutating func noteWord(_ frame: HubFrame, to index: Int) {
    if case .goodbye = frame.message {
      tally.count("goodbye of the hub")
      peers[index].failureDetector.isDismissed = true
    } else {
      noteWord(to: index)
    }
  }

  /// A goodbye is the hub's last word: what comes behind it looks like a hub that goes on.
  mutating func checkGoodbye(_ actions: [HubCore.Action]) {
    var hasSaidGoodbye = false
    for action in actions {
      switch action {
      case .send(let frame, _):
        let isGoodbye = if case .goodbye = frame.message { true } else { false }
        if hasSaidGoodbye, !isGoodbye { faults.append("the hub sends more behind its goodbye") }
        hasSaidGoodbye = hasSaidGoodbye || isGoodbye
      case .publish, .forward: if hasSaidGoodbye { faults.append("the hub publishes more behind its goodbye") }
      default: break
      }
    }
  }

  mutating func noteWord(to index: Int) { peers[index].failureDetector = WorldFailureDetection(heardAt: now) }

  /// A new incarnation knows only what is on the disk.
  mutating func beginFailureDetection(of index: Int) {
    let duty = peers[index].store.failureMark.duty
    peers[index].failureDetector.heardAt = now
    peers[index].failureDetector.isTold = peers[index].failureDetector.isTold && duty == .alarmed
    peers[index].failureDetector.isDismissed = peers[index].failureDetector.isDismissed && duty == .dismissed
  }

  mutating func check(_ lost: HubLost, at index: Int) {
    tally.count("hub lost")
    let failureDetector = peers[index].failureDetector
    if failureDetector.isTold { faults.append("peer \(index): a second alarm in one silence") }
    if failureDetector.isDismissed { faults.append("peer \(index): an alarm after the hub's goodbye") }
    if now - failureDetector.heardAt < Self.hubLostAfter - .milliseconds(10) {
      faults.append("peer \(index): an alarm while the hub is merely slow")
    }
    if peers[index].core?.authoritative.phase.isOn != true { faults.append("peer \(index): an alarm without a run") }
    if peers[index].store.failureMark.duty != .alarmed {
      tally.count("hub lost on a full disk")
      if !failureDetector.hasFailed { faults.append("peer \(index): an alarm before it is durable") }
    }
    peers[index].failureDetector.isTold = true
  }

  /// The runner quits the hub in good order, whatever is going on.
  mutating func dismissHub() {
    guard hub.core != nil, !isHealed else { return }
    tally.count("hub went off duty")
    feedHub(.ending)
  }

  /// The hub has ended: its sockets close after sending what they still hold.
  mutating func endHub() {
    hub.core = nil
    noteDue(of: .hub)
    hub.life += 1
    hub.app.crash()
    for post in posts where post.value.to == .hub { posts[post.key]?.maySeeAgain = true }
    for (index, peer) in peers.enumerated() {
      guard let number = peer.connection else { continue }
      schedule(.linkDown(index, connection: number), in: delay(), after: chance(5) ? nil : "to \(number)")
    }
    schedule(.starts(.hub), in: milliseconds(0...15_000))
  }
}
