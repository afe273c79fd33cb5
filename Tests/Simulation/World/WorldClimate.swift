import RunCore

/// The kind of world that a seed makes: who takes part, and how often things go wrong. A rate is "once in so many"; 0
/// is never.
struct WorldClimate {
  let peerCount: Int
  let frameLoss: Int
  let frameRefusal: Int
  let frameTwice: Int
  let frameLate: Int
  let publicationLoss: Int
  let commitFailure: Int
  let slowCommit: Int
  /// Rate of crashes, lost links and the like: of so many that could happen, one does.
  let trouble: Int
  /// Whether machines reboot, with another monotonic clock.
  let hasReboots: Bool
  let recovery: RecoveryChoice
  let downtime: Downtime
  let setup: RunSetup
  /// Whether the hub's transport can tell honest members from wrong ones, and the identities of the peers then.
  let hasIdentities: Bool
  /// What each connection carries.
  let limits: ConnectionLimits
  /// Where the hub publishes; empty in a world without events, whose peers learn of a new state by their pings.
  let eventsEndpoint: String
  /// The peer of a later version, whose laps and some of whose readings the hub does not know.
  let laterPeer: Int?
  /// Whether the hub is of a later version, and rejects commands for reasons that peers do not know.
  let isHubLater: Bool
  private let identities: [ConnectionIdentity?]

  init(seed: UInt64) {
    var random = WorldRandom(seed: seed, 1)
    func draw<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }
    peerCount = draw([2, 2, 3, 3, 4, 5, 6])
    // From 0, a calm world, to 3, an awful one; each rate is drawn near it.
    let mood = draw([0, 1, 1, 2, 2, 3])
    func rate(_ rates: [Int]) -> Int { rates[min(3, max(0, mood + draw([-1, 0, 0, 1])))] }
    frameLoss = rate([0, 200, 60, 15])
    frameRefusal = rate([0, 200, 60, 30])
    frameTwice = rate([0, 100, 40, 15])
    frameLate = rate([0, 100, 20, 6])
    publicationLoss = rate([0, 50, 10, 4])
    commitFailure = rate([0, 100, 20, 6])
    slowCommit = rate([0, 50, 10, 3])
    trouble = rate([6, 2, 1, 1])
    hasReboots = !WorldClimate.comparesWallClocks(seed)
    recovery = draw([.resume, .resume, .resume, .finish, .discard, .ask])
    downtime = draw([.paused, .paused, .running])
    setup = RunSetup(weightKilograms: draw([nil, 60, 82.5]), isAutoPauseOn: draw([false, false, true]))
    hasIdentities = draw([false, true])
    let isLimited = draw([false, false, false, true])
    limits =
      isLimited
      ? ConnectionLimits(
        frameBytesMax: draw([40_960, 50_000]), heartbeatMin: .seconds(draw([1, 5, 20])),
        carriesRecords: draw([true, false]))
      : .full
    eventsEndpoint = isLimited && draw([true, false]) ? "" : "events"
    laterPeer = draw([nil, nil, nil, 0])
    isHubLater = draw([false, false, false, true])
    identities = (0..<UInt8(peerCount)).map { index in
      draw([.localOwner, .key(KeyFingerprint(Array(repeating: index + 1, count: KeyFingerprint.byteCount))!), nil])
    }
  }

  /// The identity of an honest peer: a process on the hub's machine, the holder of a key, or a linked device.
  func identity(ofPeer index: Int, named name: DeviceID) -> ConnectionIdentity {
    hasIdentities ? identities[index] ?? .link(name) : .localOwner
  }

  /// The identity of all wrong members: nobody's, that of a paired device, or the same as everybody's.
  func identityOfWrong(seed: UInt64) -> ConnectionIdentity {
    guard hasIdentities else { return .localOwner }
    let key = KeyFingerprint(Array(repeating: 0xff, count: KeyFingerprint.byteCount))!
    return seed % 16 < 5 ? .key(key) : .anyone
  }

  /// Without reboots wall clocks decide nothing, so such a world is run a second time with other wall clocks.
  package static func comparesWallClocks(_ seed: UInt64) -> Bool { seed % 8 == 1 }
}
