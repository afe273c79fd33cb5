import Foundation
import RunBus
import RunRecordings
import TestSupport
import Testing

@Suite("Records of a node as files of other programs", .timeLimit(.minutes(2)))
struct NodeExchangeTests {
  @Test("A hub imports a recording once, and exports it in each format")
  func exchange() async throws {
    let hub = Hub(
      configuration: HubConfiguration(deviceID: DeviceID("phone")), listeners: [InProcessBus().listener],
      store: NodeStore(), loop: try Loop())
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await hub.run() }
      try await hub.ready()
      let document = Self.document(seconds: 60)
      let first = try await hub.records.add(from: document, named: "morning")
      #expect(first.isNew)
      let second = try await hub.records.add(from: document, named: "morning")
      #expect(!second.isNew && second.run == first.run)
      #expect(try await hub.records.list().map(\.title) == ["morning"])
      for format in RecordFormat.allCases {
        let text = try await hub.records.export(first.run, as: format)
        #expect(text.contains("47.3"), "\(format)")
      }
      // An exported run that comes back is the same run.
      let back = try await hub.records.add(
        from: Array(try await hub.records.export(first.run, as: .gpx).utf8), named: "other")
      #expect(back.run == first.run && !back.isNew)
      let missing = await #expect(throws: RunBusError.self) { try await hub.records.export(.random(), as: .gpx) }
      #expect(missing?.code == .notFound)
      let wrong = await #expect(throws: RunBusError.self) { try await hub.records.add(from: [1, 2], named: "x") }
      #expect(wrong?.code == .badInput)
    }
  }

  /// A GPX document of a walk to the north, a fix a second.
  private static func document(seconds: Int) -> [UInt8] {
    let points = (0..<seconds).map { second in
      let time = "2026-01-01T08:00:\(second < 10 ? "0" : "")\(second)Z"
      return "<trkpt lat=\"\(47.3 + Double(second) * 0.00002)\" lon=\"8.5\"><time>\(time)</time></trkpt>"
    }
    let head = "<gpx version=\"1.1\" creator=\"test\" xmlns=\"http://www.topografix.com/GPX/1/1\"><trk><trkseg>"
    return Array((head + points.joined() + "</trkseg></trk></gpx>").utf8)
  }
}
