import RunCore

/// What kind of world a seed makes: who is there, and how often what goes wrong. Some worlds are calm, some are awful.
/// Rates are "one of so many"; 0 is never.
struct WorldClimate {
  let peerCount: Int
  let frameLoss: Int
  let frameRefusal: Int
  let frameTwice: Int
  let frameLate: Int
  let publicationLoss: Int
  let commitFailure: Int
  let slowCommit: Int
  /// Crashes, losses of links and the like: of so many that would happen one does.
  let trouble: Int
  /// Machines start again, with another clock.
  let hasReboots: Bool
  let recovery: RecoveryChoice
  let downtime: Downtime
  let setup: RunSetup

  init(seed: UInt64) {
    var random = WorldRandom(seed: seed, 1)
    func draw<Value>(_ values: [Value]) -> Value { values.randomElement(using: &random)! }
    peerCount = draw([2, 2, 3, 3, 4, 5, 6])
    // 0 is a calm world, 3 an awful one; each rate is drawn about it.
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
  }

  /// Without reboots a wall clock decides nothing: such a world is run again with other jumps of its wall clocks.
  package static func comparesWallClocks(_ seed: UInt64) -> Bool { seed % 8 == 1 }
}
