#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import RunCore
import SwiftProtobuf
import Testing

@testable import RunWire

@Suite("Routes and reports that break a rule are refused, and valid ones fit into a frame")
struct CodecRunRulesTests {
  private static let id = Data(repeating: 7, count: 16)

  private func reason(_ read: () throws -> Void) -> String? {
    do {
      try read()
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// The reason for which a valid route part with one point is refused after a change.
  private func part(_ change: (inout WireRoutePart) -> Void) throws -> String? {
    var event = WireBusEvent()
    event.route.runID = Self.id
    event.route.term = 1
    event.route.number = 1
    event.route.total = 1
    event.route.points = [WireRoutePoint()]
    event.route.points[0].position.latitudeDegrees = 1
    event.route.points[0].verdict = .counted
    change(&event.route)
    let bytes: [UInt8] = try event.serializedBytes()
    return reason { _ = try Codec.busEvent(bytes) }
  }

  @Test("Each rule of a message event")
  func message() throws {
    func told(_ change: (inout WireMessageEvent) -> Void) throws -> String? {
      var event = WireBusEvent()
      event.message.id = Self.id
      event.message.name = "note"
      event.message.from = "watch"
      event.message.to = "phone"
      event.message.size = 32_768
      change(&event.message)
      let bytes: [UInt8] = try event.serializedBytes()
      return reason { _ = try Codec.busEvent(bytes) }
    }
    #expect(try told { _ in } == nil)
    #expect(try told { $0.size = 0 } == nil)
    #expect(try told { $0.size = 32_769 } == "message event of a body that is too long")
    #expect(try told { $0.id = Data() } == "message id is 0 bytes long, not 16")
    #expect(try told { $0.name = "" } == "message name is not 1 to 64 bytes without control characters")
    #expect(try told { $0.from = "No" } == "device id is not a name")
    #expect(try told { $0.to = "" } == "device id is not a name")
  }

  @Test("Each rule of a route")
  func route() throws {
    #expect(try part { _ in } == nil)
    #expect(try part { $0.runID = Data() } == "run id is 0 bytes long, not 16")
    #expect(try part { $0.term = .max } == "term is out of range")
    #expect(try part { $0.number = .max } == "number of a part is out of range")
    #expect(try part { $0.from = 1 } == "part of a route that ends behind the route")
    #expect(try part { $0.from = .max } == "index of a point is out of range")
    #expect(try part { $0.total = .max } == "number of points is out of range")
    #expect(try part { $0.total = 0 } == "part of a route that ends behind the route")
    #expect(
      try part {
        $0.points = Array(repeating: $0.points[0], count: 513)
        $0.total = 513
      } == "more than 512 points in a part of a route")
    #expect(
      try part {
        $0.points = []
        $0.from = 9
      } == nil)
    #expect(try part { $0.points[0].clearPosition() } == "point without a position")
    #expect(try part { $0.points[0].position.latitudeDegrees = 90.5 } == "position of a point is out of range")
    #expect(try part { $0.points[0].position.longitudeDegrees = .nan } == "position of a point is out of range")
    #expect(try part { $0.points[0].verdict = .unspecified } == nil)
    #expect(try part { $0.points[0].offsetNs = -1 } == "moment of a point is negative")
    #expect(try part { $0.points[0].altitudeMeters = .infinity } == "altitude is not a number")
    #expect(try part { $0.points[0].distanceMeters = .nan } == "distance is not a number")
  }

  @Test("Each rule of a report")
  func report() throws {
    func reason(_ change: (inout WireRunReport) -> Void) throws -> String? {
      var frame = WireHubFrame()
      frame.answer.report.report.metrics = WireMetrics()
      change(&frame.answer.report.report)
      let bytes: [UInt8] = try frame.serializedBytes()
      return self.reason { _ = try Codec.hubFrame(bytes) }
    }
    var stretch = WireDistanceStretch()
    stretch.source = .pedometer
    #expect(try reason { $0.stretches = [stretch] } == nil)
    #expect(try reason { $0.clearMetrics() } == "report without its metrics")
    #expect(try reason { $0.metrics.moments.heartRateNs = -1 } == "moment of the heart rate is negative")
    #expect(try reason { $0.metrics.energyJoules = .nan } == "energy is not a number")
    stretch.meters = .infinity
    #expect(try reason { $0.stretches = [stretch] } == "stretch length is not a number")
    var split = WireSplit()
    #expect(try reason { $0.laps = Array(repeating: split, count: 256) } == nil)
    #expect(try reason { $0.laps = Array(repeating: split, count: 257) } == "more than 256 lines in an answer")
    split.number = .max
    #expect(try reason { $0.miles = [split] } == "split number is out of range")
    split.number = 1
    split.endedAtNs = -1
    #expect(try reason { $0.kilometers = [split] } == "split end is negative")
  }

  @Test("Each rule of the numbers over time, and the longest fit into the smallest frame")
  func series() throws {
    func reason(_ change: (inout WireRunSeries) -> Void) throws -> String? {
      var frame = WireHubFrame()
      frame.answer.series.series.runID = Codec.data(RunID(high: 0, low: 1))
      change(&frame.answer.series.series)
      let bytes: [UInt8] = try frame.serializedBytes()
      return self.reason { _ = try Codec.hubFrame(bytes) }
    }
    var sample = WireSeriesSample()
    #expect(try reason { $0.samples = Array(repeating: sample, count: 512) } == nil)
    let tooMany = "more samples or pauses than a series has"
    #expect(try reason { $0.samples = Array(repeating: sample, count: 513) } == tooMany)
    #expect(try reason { $0.pauses = Array(repeating: WireRunStretch(), count: 129) } == tooMany)
    #expect(try reason { $0.runID = Codec.data(RunID(high: 0, low: 1)).prefix(3) } != nil)
    sample.heartRateBpm = .nan
    #expect(try reason { $0.samples = [sample] } == "heart rate is not a number")
    sample = WireSeriesSample()
    sample.offsetNs = -1
    #expect(try reason { $0.samples = [sample] } == "moment of a sample is negative")
    var pause = WireRunStretch()
    pause.startedAtNs = 1
    #expect(try reason { $0.pauses = [pause] } == "a pause that ends before it begins")

    let longest = RunSeries.Sample(
      offset: BusDuration(nanoseconds: .max),
      values: RecordSeries.Sample(
        distanceMeters: 1.5, paceSecondsPerKilometer: 1.5, altitudeMeters: -1.5, heartRateBpm: 1.5,
        cadenceStepsPerMinute: 1.5))
    let moment = BusDuration(nanoseconds: .max)
    let whole = RunSeries(
      runID: RunID(high: .max, low: .max), samples: Array(repeating: longest, count: RunSeries.samplesMax),
      pauses: Array(repeating: moment..<moment, count: RunSeries.pausesMax))
    let frame = HubFrame(session: .max, message: .answer(.series(whole)))
    let bytes = Codec.encode(frame)
    #expect(bytes.count <= ConnectionLimits.frameBytes.lowerBound)
    #expect(try Codec.hubFrame(bytes) == frame)
  }

  @Test("An inquiry for the route names an index that fits into a signed 32-bit integer")
  func question() throws {
    var frame = WirePeerFrame()
    frame.inquiry.route.from = UInt32(Int32.max)
    let good: [UInt8] = try frame.serializedBytes()
    #expect(reason { _ = try Codec.peerFrame(good) } == nil)
    frame.inquiry.route.from = .max
    let bad: [UInt8] = try frame.serializedBytes()
    #expect(reason { _ = try Codec.peerFrame(bad) } == "index of a point is out of range")
  }

  @Test("The largest route part fits into a frame with every field at its longest")
  func largestPart() throws {
    let point = RoutePoint(
      offset: BusDuration(nanoseconds: .max),
      position: Position(latitude: 89.5, longitude: 179.5, horizontalAccuracyMeters: 14.5), verdict: .otherReceiver,
      altitudeMeters: -1.5, distanceMeters: 1.5)
    let part = RoutePart(
      runID: RunID(high: .max, low: .max), term: Codec.counterMax, number: Codec.counterMax, from: 1 << 30,
      points: Array(repeating: point, count: RoutePart.pointsMax), total: Int(Int32.max))
    let frame = HubFrame(session: .max, message: .answer(.route(part)))
    let bytes = Codec.encode(frame)
    // A route part is a single item, so it fits into the smallest frame.
    #expect(bytes.count <= ConnectionLimits.frameBytes.lowerBound)
    #expect(try Codec.hubFrame(bytes) == frame)
    #expect(try Codec.busEvent(Codec.encode(.route(part))) == .route(part))
  }

  @Test("A report that is too long for a frame keeps the first lines of its lists, kilometres first")
  func largestReport() throws {
    func splits(_ count: Int) -> [Split] {
      (1...count).map { number in
        let long = BusDuration(nanoseconds: .max - Int64(number))
        return Split(
          number: Int(Int32.max) - number, distanceMeters: 1.5, active: long, startedAt: long, endedAt: long,
          averageHeartRateBpm: 1.5, elevationGainMeters: 1.5, elevationLossMeters: 1.5, isComplete: true)
      }
    }
    let stretches = (1...300).map { number in
      let moment = BusDuration(nanoseconds: .max - Int64(number))
      return DistanceStretch(source: .pedometer, startedAt: moment, endedAt: moment, meters: 1.5)
    }
    let report = RunReport(
      metrics: RunMetrics(distanceMeters: 1), kilometers: splits(300), miles: splits(300), laps: splits(300),
      stretches: stretches)
    let bytes = Codec.encode(HubFrame(session: .max, message: .answer(.report(report))))
    #expect(bytes.count <= Codec.frameBytesMax)
    guard case .answer(.report(let read?)) = try Codec.hubFrame(bytes).message else {
      Issue.record("not a report")
      return
    }
    #expect(read.metrics == report.metrics)
    #expect(read.kilometers == Array(report.kilometers.prefix(256)))
    #expect(read.miles == Array(report.miles.prefix(256)))
    #expect(read.laps == Array(report.laps.prefix(read.laps.count)))
    #expect(read.stretches == Array(report.stretches.prefix(read.stretches.count)))
    // A hundred kilometres with every lap and both sources fit completely.
    let long = RunReport(
      metrics: report.metrics, kilometers: splits(100), miles: splits(62), laps: splits(200),
      stretches: Array(stretches.prefix(100)))
    let all = try Codec.hubFrame(Codec.encode(HubFrame(session: 1, message: .answer(.report(long)))))
    #expect(all.message == .answer(.report(long)))
  }
}
