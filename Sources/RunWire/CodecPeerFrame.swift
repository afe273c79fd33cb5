import RunCore
import SwiftProtobuf

// Frames from a peer to the hub.
extension Codec {
  static func message(_ frame: PeerFrame) -> WirePeerFrame {
    var message = WirePeerFrame()
    message.session = frame.session
    message.sentAtNs = frame.sentAt.nanoseconds
    switch frame.message {
    case .hello(let hello): message.message = .hello(self.message(hello))
    case .command(let transmission): message.message = .command(self.message(transmission))
    case .samples(let samples): message.message = .samples(self.message(samples))
    case .ping(let number, let nextWithin, let roundTrip):
      var ping = WirePing()
      ping.number = number
      ping.nextWithinNs = nextWithin.nanoseconds
      if let roundTrip { ping.roundTripNs = max(0, roundTrip.nanoseconds) }
      message.message = .ping(ping)
    case .query: message.message = .query(WireQuery())
    case .goodbye: message.message = .goodbye(WireGoodbye())
    case .request(let request): message.message = .request(self.message(request))
    case .delivery(let delivery): message.message = .delivery(self.message(delivery))
    case .inquire(let inquiry): message.message = .inquiry(self.message(inquiry))
    case .fetchRecord(let fetch): message.message = .fetchRecord(self.message(fetch))
    case .pair(let request): message.message = .pairing(self.message(request))
    case .announceKey(let key): message.message = .announceKey(self.message(announcing: key))
    case .room(let ask): message.message = .room(bytes(ask))
    }
    return message
  }

  static func value(_ message: WirePeerFrame) throws(WireError) -> PeerFrame {
    let content: PeerMessage
    switch message.message {
    case .hello(let hello): content = .hello(try value(hello))
    case .command(let transmission): content = .command(try value(transmission))
    case .samples(let samples): content = .samples(try value(samples))
    case .ping(let ping):
      let nextWithin = BusDuration(nanoseconds: ping.nextWithinNs)
      guard Heartbeat.intervals.contains(nextWithin) else {
        throw .malformed("a ping states within what time the next one comes: 1 to 60 s")
      }
      content = .ping(
        ping.number, nextWithin: nextWithin,
        roundTrip: ping.hasRoundTripNs ? try span(ping.roundTripNs, "round trip") : nil)
    case .query: content = .query
    case .goodbye: content = .goodbye
    case .request(let request): content = .request(try value(request))
    case .delivery(let delivery): content = .delivery(try value(delivery))
    case .inquiry(let inquiry): content = .inquire(try value(inquiry))
    case .fetchRecord(let fetch): content = .fetchRecord(try value(fetch))
    case .pairing(let request): content = .pair(try value(request))
    case .announceKey(let announcement): content = .announceKey(try key(announcement.key))
    case .room(let bytes): content = .room(try roomAsk(bytes))
    case nil: throw .unknown("a kind of frame")
    }
    return PeerFrame(session: message.session, sentAt: BusTime(nanoseconds: message.sentAtNs), message: content)
  }

  private static func message(_ hello: Hello) -> WireHello {
    var message = WireHello()
    message.version = hello.version
    message.deviceID = hello.deviceID.rawValue
    message.role = hello.role.rawValue
    message.nodeID = data(hello.nodeID)
    message.storeID = data(hello.storeID)
    message.nonce = hello.nonce
    message.termSeen = hello.termSeen
    if let hub = hello.hub { message.hubStoreID = data(hub) }
    message.acknowledged = messages(hello.acknowledged)
    message.received = messages(hello.received)
    message.listVersion = hello.listVersion
    if let proof = hello.listProof { message.listProof = data(proof) }
    if let key = hello.nextHubKey { message.nextHubKey = data(key) }
    message.ephemeral = hello.isEphemeral
    return message
  }

  private static func value(_ message: WireHello) throws(WireError) -> Hello {
    do throws(WireError) {
      return Hello(
        version: message.version, deviceID: try device(message.deviceID), role: try role(message.role),
        nodeID: try identifier(message.nodeID, "node id"), storeID: try identifier(message.storeID, "store id"),
        nonce: message.nonce, termSeen: try counter(message.termSeen, "term"),
        hub: message.hasHubStoreID ? try identifier(message.hubStoreID, "hub store id") : nil,
        acknowledged: try marks(message.acknowledged).mapValues(\.sequence), received: try marks(message.received),
        listVersion: try counter(message.listVersion, "version of the list"),
        listProof: message.hasListProof ? try proof(message.listProof) : nil,
        nextHubKey: message.hasNextHubKey ? try key(message.nextHubKey) : nil, isEphemeral: message.ephemeral)
    } catch {
      // In another version of the wire the other fields may have another meaning. The sender must be told of the
      // version, not of a malformed field.
      throw message.version == wireVersion || message.version == 0 ? error : .versionMismatch(message.version)
    }
  }

  private static func message(_ transmission: CommandTransmission) -> WireTransmission {
    var message = WireTransmission()
    message.command = self.message(transmission.command)
    message.sequence = transmission.sequence
    message.ageNs = max(0, transmission.age.nanoseconds)
    message.uncertain = transmission.isUncertain
    message.stopFollows = transmission.stopFollows
    return message
  }

  private static func value(_ message: WireTransmission) throws(WireError) -> CommandTransmission {
    guard message.hasCommand else { throw .malformed("transmission without a command") }
    // The place is read first: a command of an unknown kind is answered by its place.
    let sequence = try sequence(message.sequence)
    return CommandTransmission(
      command: try value(message.command), sequence: sequence,
      age: try span(message.ageNs, "command age"), isUncertain: message.uncertain, stopFollows: message.stopFollows)
  }
}
