import RunCore
import Testing

@Suite("The clock of a log")
struct LogClockTests {
  private static func at(_ milliseconds: Int64) -> BusTime { BusTime.zero + .milliseconds(milliseconds) }
  private static func log(_ milliseconds: Int64) -> LogTime { LogTime.zero + .milliseconds(milliseconds) }

  @Test("Nothing heard, nothing estimated")
  func nothing() {
    let clock = LogClock()
    #expect(clock.estimate(at: .zero) == nil)
    #expect(clock.earliest(at: .zero) == nil)
    #expect(clock.local(of: .zero, at: .zero) == nil)
  }

  @Test("An own entry gives the middle of its way, and half of it as the error")
  func own() throws {
    var clock = LogClock()
    clock.heardOwn(sent: Self.at(1000), stamped: Self.log(51_000), heard: Self.at(1020))
    // The offset is 49,980 to 50,000 ms, and 20 ms of way are 2 µs of drift.
    let estimate = try #require(clock.estimate(at: Self.at(1020)))
    #expect(abs((estimate.now - Self.log(51_010)).nanoseconds) < 2_000)
    #expect(estimate.error >= .milliseconds(10) && estimate.error < .milliseconds(10) + BusDuration(nanoseconds: 2_000))
    let start = try #require(clock.local(of: Self.log(60_000), at: Self.at(1020)))
    #expect(abs((start - Self.at(10_010)).nanoseconds) < 2_000)
  }

  @Test("The error grows by a ten-thousandth of the time that passes")
  func ages() throws {
    var clock = LogClock()
    clock.heardOwn(sent: Self.at(0), stamped: Self.log(0), heard: Self.at(2))
    let later = try #require(clock.estimate(at: Self.at(100_002)))
    #expect(later.error > .milliseconds(10) && later.error < .milliseconds(12))
  }

  @Test("Another's entry says only that the log is not earlier, and narrows an own one")
  func other() throws {
    var clock = LogClock()
    clock.heardOther(stamped: Self.log(500), heard: Self.at(100))
    #expect(clock.estimate(at: Self.at(100)) == nil)
    #expect(clock.earliest(at: Self.at(100)) == Self.log(500))
    clock.heardOwn(sent: Self.at(100), stamped: Self.log(505), heard: Self.at(120))
    let estimate = try #require(clock.estimate(at: Self.at(120)))
    #expect(estimate.error < .milliseconds(3), "400 to 405 instead of 385 to 405")
  }

  @Test("Another's entry is of no use after half an hour")
  func otherAges() throws {
    var clock = LogClock()
    clock.heardOther(stamped: Self.log(9_999), heard: Self.at(0))
    clock.heardOther(stamped: Self.log(9_500), heard: Self.at(1_000_000))
    clock.heardOther(stamped: Self.log(1_000_000), heard: Self.at(1_800_001))
    #expect(clock.earliest(at: Self.at(1_800_001))! < Self.log(1_800_001), "the first one said 9,819 ms more")
    #expect(clock.check() == nil)
  }

  @Test("A clock of the log that was set is believed from the next own entry on", arguments: [-3_600_000, 3_600_000])
  func clockWasSet(by: Int64) throws {
    var clock = LogClock()
    for second in Int64(0)..<20 {
      clock.heardOwn(
        sent: Self.at(second * 1000), stamped: Self.log(second * 1000 + 5), heard: Self.at(second * 1000 + 9))
    }
    clock.heardOwn(sent: Self.at(30_000), stamped: Self.log(30_005 + by), heard: Self.at(30_009))
    let estimate = try #require(clock.estimate(at: Self.at(30_009)))
    #expect(abs((estimate.now - Self.log(30_009 + by)).nanoseconds) <= estimate.error.nanoseconds)
    #expect(estimate.error < .milliseconds(6))
    #expect(clock.check() == nil)
  }

  @Test("A new log starts the clock anew")
  func restart() {
    var clock = LogClock()
    clock.heardOwn(sent: Self.at(0), stamped: Self.log(5), heard: Self.at(9))
    clock.restart()
    #expect(clock == LogClock())
  }

  /// A clock that runs wrong, and never the same for long.
  private struct Drifting {
    var shown: Double
    var rate: Double
    mutating func pass(_ seconds: Double) { shown += seconds * (1 + rate) }
    var nanoseconds: Int64 { Int64((shown * 1e9).rounded()) }
  }

  @Test("The stated error holds in every estimate, whatever clocks and links do", arguments: 1...20)
  func stated(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func draw(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &random) }
    var own = Drifting(shown: draw(0...1e6), rate: 0)
    var log = Drifting(shown: draw(0...1e6), rate: 0)
    let (up, down) = (draw(0...0.4), draw(0...0.4))
    var clock = LogClock()
    var (estimates, wrong) = (0, 0)
    func pass(_ seconds: Double) {
      (own.rate, log.rate) = (draw(-50e-6...50e-6), draw(-50e-6...50e-6))
      if Bool.random(using: &random) {
        (own.rate, log.rate) = seed.isMultiple(of: 2) ? (50e-6, -50e-6) : (-50e-6, 50e-6)
      }
      own.pass(seconds)
      log.pass(seconds)
    }
    for _ in 0..<400 {
      pass(draw(0...(Bool.random(using: &random) ? 1 : 400)))
      let isOwn = Int.random(in: 0..<4, using: &random) == 0
      let sent = BusTime(nanoseconds: own.nanoseconds)
      if isOwn { pass(up * draw(0...1)) }
      let stamped = LogTime(nanoseconds: log.nanoseconds)
      pass(down * draw(0...1))
      let heard = BusTime(nanoseconds: own.nanoseconds)
      if isOwn {
        clock.heardOwn(sent: sent, stamped: stamped, heard: heard)
      } else {
        clock.heardOther(stamped: stamped, heard: heard)
      }
      if clock.check() != nil { wrong += 1 }
      for wait in [0, 1, 600] {
        pass(Double(wait) * draw(0...1))
        let now = BusTime(nanoseconds: own.nanoseconds)
        guard let estimate = clock.estimate(at: now) else { continue }
        // A microsecond for the rounding of the simulated clocks.
        let off = abs((estimate.now - LogTime(nanoseconds: log.nanoseconds)).nanoseconds) - 1_000
        let isRight =
          off <= estimate.error.nanoseconds
          && clock.earliest(at: now)! <= LogTime(nanoseconds: log.nanoseconds + 1_000)
          && clock.local(of: estimate.now, at: now) == now
        wrong += isRight ? 0 : 1
        estimates += 1
      }
    }
    #expect(wrong == 0)
    #expect(estimates > 1_000)
  }

  @Test("Stamps of any size and order are survived, and the next honest entries count", arguments: 1...20)
  func hostile(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let wild: [Int64] = [.min, .max, 0, -1, .min + 1, .max - 1, 1_000_000_000_000_000]
    var clock = LogClock()
    for _ in 0..<300 {
      func any() -> Int64 {
        Bool.random(using: &random) ? wild.randomElement(using: &random)! : Int64(bitPattern: random.next())
      }
      if Bool.random(using: &random) {
        clock.heardOwn(
          sent: BusTime(nanoseconds: any()), stamped: LogTime(nanoseconds: any()), heard: BusTime(nanoseconds: any()))
      } else {
        clock.heardOther(stamped: LogTime(nanoseconds: any()), heard: BusTime(nanoseconds: any()))
      }
      #expect(clock.check() == nil)
      let now = BusTime(nanoseconds: any())
      _ = clock.estimate(at: now)
      _ = clock.earliest(at: now)
      _ = clock.local(of: LogTime(nanoseconds: any()), at: now)
    }

    // The own clock is one's own: only stamps can be wrong.
    clock.restart()
    for second in Int64(0)..<200 {
      let stamp = LogTime(nanoseconds: Bool.random(using: &random) ? .max : Int64(bitPattern: random.next()))
      clock.heardOther(stamped: stamp, heard: Self.at(second * 1000))
      clock.heardOwn(sent: Self.at(second * 1000), stamped: stamp, heard: Self.at(second * 1000 + 3))
      clock.heardOther(stamped: stamp, heard: Self.at(second * 1000 + 5))
    }
    for second in Int64(200)..<217 {
      clock.heardOwn(
        sent: Self.at(second * 1000), stamped: Self.log(second * 1000 + 2), heard: Self.at(second * 1000 + 4))
    }
    let estimate = try #require(clock.estimate(at: Self.at(216_004)))
    #expect(abs((estimate.now - Self.log(216_004)).nanoseconds) <= estimate.error.nanoseconds)
    #expect(estimate.error < .milliseconds(3))
  }
}
