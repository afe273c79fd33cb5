import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite("The JSON form reads back what it wrote")
struct JSONRoundTripTests {
  /// Each seed makes one value of each type.
  private static let seeds: Range<UInt64> = 0..<300

  private func check<Value: Codable & Equatable>(_ value: Value, _ seed: UInt64) throws {
    let data = try JSONEncoder().encode(value)
    let read = try JSONDecoder().decode(Value.self, from: data)
    #expect(read == value, "seed \(seed)")
  }

  @Test("Random values are equal after a round trip")
  func random() throws {
    for seed in Self.seeds {
      var make = JSONGenerator(seed: seed)
      try check(make.metrics(), seed)
      try check(make.snapshot(), seed)
      try check(make.verdict(), seed)
      try check(make.receipt(), seed)
      try check(make.split(), seed)
      try check(make.report(), seed)
      try check(make.point(), seed)
      try check(make.summary(), seed)
      try check(make.record(), seed)
      try check(make.event(), seed)
      try check(make.dated(), seed)
    }
  }

  @Test("A value reads back also when its unknown fields are missing instead of null")
  func missing() throws {
    for seed in Self.seeds {
      var make = JSONGenerator(seed: seed)
      let snapshot = make.snapshot()
      let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(snapshot))
      let data = try JSONSerialization.data(withJSONObject: Self.withoutNulls(object))
      #expect(try JSONDecoder().decode(Snapshot.self, from: data) == snapshot, "seed \(seed)")
    }
  }

  private static func withoutNulls(_ value: Any) -> Any {
    guard let object = value as? [String: Any] else { return value }
    return object.filter { !($0.value is NSNull) }.mapValues(withoutNulls)
  }

  @Test("What the form cannot carry reads back as its doc comments say")
  func lossy() throws {
    func read(_ metrics: RunMetrics) throws -> RunMetrics {
      try JSONDecoder().decode(RunMetrics.self, from: JSONEncoder().encode(metrics))
    }
    #expect(try read(RunMetrics(heartRateBpm: .infinity)) == RunMetrics())
    let late = RunMetrics(elapsed: .seconds(5), moments: MetricMoments(heartRate: .seconds(7)))
    #expect(try read(late).moments.heartRate == .seconds(5))
  }
}
