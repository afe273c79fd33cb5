import RunCore
import Testing

@Suite("The route says of each fix whether it counted")
struct RouteTests {
  @Test("Every reason has its verdict")
  func verdicts() {
    var ledger = LedgerBuilder()
    ledger.fix(0, at: -1)
    ledger.press(.start, at: 0)
    ledger.fix(0, at: 1)
    ledger.fix(3, at: 2)
    ledger.fix(9, at: 2)
    ledger.fix(6, at: 3, accuracy: 15)
    ledger.fix(9, at: 4, accuracy: -1)
    ledger.fix(12, at: 5)
    ledger.fix(512, at: 6)
    ledger.fix(18, at: 7)
    ledger.fix(19, at: 7.5, from: "watch")
    ledger.sample(.motion(.stationary), at: 8)
    ledger.fix(21, at: 8)
    ledger.sample(.motion(.running), at: 9)
    ledger.press(.pause, at: 9.5)
    ledger.fix(27, at: 10)
    #expect(
      ledger.route().map(\.verdict) == [
        .anchored, .counted, .repeated, .inaccurate, .invalid, .anchored, .impossibleSpeed, .anchored, .otherReceiver,
        .stationary, .notRunning,
      ])
    #expect(ledger.route().map(\.offset.seconds).prefix(3) == [1, 2, 2])
  }

  @Test("A point carries the distance and the altitude there")
  func fields() throws {
    var ledger = LedgerBuilder()
    ledger.press(.start, at: 0)
    ledger.sample(.altitude(meters: 100, .gps), at: 0)
    ledger.run(from: 0, through: 10)
    let last = try #require(ledger.route().last)
    #expect(last.altitudeMeters == 100)
    #expect(last.distanceMeters.map { ($0 * 10).rounded() / 10 } == 30)
  }

  @Test("A late entry changes the verdicts of the fixes after it, and the ledger tells from which one on")
  func lateEntry() throws {
    var told = LedgerBuilder()
    told.press(.start, at: 0)
    told.run(from: 0, through: 1000)
    var ledger = RunLedger()
    ledger.insert(contentsOf: told.entries)
    #expect(ledger.takeRouteChange() == 0)
    #expect(ledger.takeRouteChange() == nil)
    #expect(ledger.route.count == 1001)
    told.press(.pause, at: 900.5)
    ledger.insert(try #require(told.entries.last))
    let change = ledger.takeRouteChange()
    let from = try #require(change)
    #expect(from <= 901 && from > 600, "\(from)")
    told.sample(.heartRate(bpm: 100), at: 1001)
    // Each insertion folds a bounded number of entries again.
    for _ in 0..<10 { ledger.insert(try #require(told.entries.last)) }
    #expect(ledger.route == told.route())
    #expect(ledger.route.last?.verdict == .notRunning)
  }

  @Test("A bend of sparse fixes is as long as its arc, and a corner as its two sides")
  func arcs() throws {
    func meters(_ step: Double, turn: Double) throws -> Double {
      var ledger = LedgerBuilder()
      ledger.press(.start, at: 0)
      var (north, east, heading) = (0.0, 0.0, 0.0)
      for index in 0...40 {
        let position = Position(
          latitude: north / LedgerBuilder.metersPerDegree, longitude: east / 111_320, horizontalAccuracyMeters: 5)
        ledger.sample(.position(position), at: Double(index) * step)
        north += step * 3 * Self.cosine(heading)
        east += step * 3 * Self.cosine(heading - 90)
        heading += turn
      }
      return try #require(ledger.metrics(at: 40 * step).distanceMeters)
    }
    let straight = try meters(10, turn: 0)
    // 20 degrees a step: an arc is (10 deg) / sin(10 deg) = 1.0051 times its chord, on a sphere.
    let bent = try meters(10, turn: 20)
    #expect(abs(bent / straight - 1.0051) < 0.006, "\(bent / straight)")
    #expect(bent > straight * 1.002)
  }

  /// The cosine of an angle in degrees, in steps of ten, without a mathematics library.
  private static func cosine(_ degrees: Double) -> Double {
    var angle = degrees.truncatingRemainder(dividingBy: 360) * .pi / 180
    if angle < 0 { angle += 2 * .pi }
    var (sum, term) = (1.0, 1.0)
    for index in 1...20 {
      term *= -angle * angle / Double((2 * index - 1) * (2 * index))
      sum += term
    }
    return sum
  }
}
