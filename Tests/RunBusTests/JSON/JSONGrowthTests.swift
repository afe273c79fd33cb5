import Foundation
import RunCore
import Testing

@testable import RunBus

@Suite("JSON of a later version is readable where the wire is")
struct JSONGrowthTests {
  /// Encodes a value, changes fields of the object, and decodes it.
  private func later<Value: Codable>(_ value: Value, _ change: (inout [String: Any]) -> Void) throws -> Value {
    let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value))
    var object = try #require(json as? [String: Any])
    change(&object)
    return try JSONDecoder().decode(Value.self, from: JSONSerialization.data(withJSONObject: object))
  }

  private let applied = Verdict(
    commandID: CommandID(high: 3, low: 4), kind: .pause, source: .watch, outcome: .applied, runID: nil, term: 1,
    revision: 2, effectiveAt: nil)

  @Test("A phase, an activity and keys of a later version")
  func snapshot() throws {
    let read = try later(Snapshot.none) {
      $0["phase"] = "resting"
      $0["mood"] = ["good": true]
      var metrics = $0["metrics"] as? [String: Any] ?? [:]
      metrics["activity"] = "swimming"
      metrics["stale"] = ["glucose"]
      $0["metrics"] = metrics
    }
    #expect(read.phase == .unknown && read.metrics.activity == .unknown)
  }

  @Test("A reason and a verdict of a later version")
  func receipts() throws {
    let rejected = Verdict(
      commandID: applied.commandID, kind: .pause, source: .watch, outcome: .rejected(.busy), runID: nil, term: 1,
      revision: 2, effectiveAt: nil)
    #expect(try later(rejected) { $0["reason"] = "17" }.outcome == .rejected(.unknown(17)))
    #expect(try later(rejected) { $0["reason"] = "tooTired" }.outcome == .rejected(.unknown(0)))
    #expect(try later(rejected) { $0["reason"] = "illegal" }.outcome == .rejected(.illegal(.unknown)))
    #expect(try later(applied) { $0["receipt"] = "postponed" }.outcome == .unknown)
  }

  @Test("A source of distance and a reason of a point of a later version")
  func report() throws {
    let stretch = DistanceStretch(source: .pedometer, startedAt: .zero, endedAt: .seconds(1), meters: 2)
    #expect(try later(stretch) { $0["source"] = "radar" }.source == .unknown)
    let point = RoutePoint(offset: .zero, position: Position(latitude: 1, longitude: 2), verdict: .inaccurate)
    #expect(try later(point) { $0["reason"] = "tunnel" }.verdict == .unknown)
  }

  @Test("A stage, a gate and words for a result of a later version")
  func rooms() throws {
    let member = RoomView.Member(
      id: "0a", nickname: "Anna", standing: RoomView.Standing(phase: .running),
      finish: RoomView.Finish(place: 1, meters: 5, isConfirmed: true, outcome: .won))
    let view = RoomView(
      order: RoomView.Order(term: 1, number: 1), room: "0b", goal: nil, places: 2, stage: .over, gate: .open,
      settled: .final, members: [member])
    let read = try later(view) {
      $0["stage"] = "celebrating"
      $0["gate"] = "tooWet"
      $0["settled"] = "eternal"
      var members = $0["members"] as? [[String: Any]] ?? []
      members[0]["finish"] = ["place": 1, "distanceMeters": 5, "confirmed": true, "outcome": "disqualified"]
      members[0]["standing"] = ["stale": true, "phase": "resting"]
      $0["members"] = members
    }
    #expect(read.stage == .unknown && read.gate == nil && read.settled == nil)
    #expect(read.members[0].finish?.outcome == nil && read.members[0].standing?.phase == .unknown)
    let cue = RoomCue(room: "0b", kind: .won)
    #expect(throws: DecodingError.self) { try later(cue) { $0["cue"] = "sung" } }
  }

  @Test("What the wire drops is an error: a kind of command, a stage before the verdict, an event")
  func errors() throws {
    let pending = Receipt(commandID: applied.commandID, kind: .pause, source: .watch, stage: .pending)
    #expect(throws: DecodingError.self) { try later(applied) { $0["command"] = "jump" } }
    #expect(throws: DecodingError.self) { try later(pending) { $0["receipt"] = "onItsWay" } }
    let presence = BusEvent.presence(Presence(deviceID: DeviceID("watch"), role: .watch, isReachable: true))
    #expect(throws: DecodingError.self) { try later(presence) { $0["event"] = "eclipse" } }
    #expect(throws: DecodingError.self) {
      _ = try JSONDecoder().decode(Verdict.self, from: JSONEncoder().encode(pending))
    }
  }

  @Test("Records that cannot be kept are an error")
  func records() throws {
    var make = JSONGenerator(seed: 1)
    let record = make.record()
    #expect(throws: DecodingError.self) { try later(record) { $0["format"] = "runbus-record/2" } }
    #expect(throws: DecodingError.self) { try later(record) { $0["series"] = ["intervalSeconds": 0, "samples": []] } }
    #expect(throws: DecodingError.self) { try later(record.summary) { $0["version"] = 0 } }
    #expect(throws: DecodingError.self) { try later(record.summary) { $0["startedAtUnixSeconds"] = -1 } }
  }
}
