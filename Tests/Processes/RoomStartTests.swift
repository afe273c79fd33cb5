import Foundation
import RunBus
import Testing
import TestSupport

// Serialized, so that each start has all cores of the machine.
@Suite("Four phones with clocks of their own start at one moment", .serialized)
struct RoomStartTests {
  /// `make soak STARTS=50` starts more often than `make test`; `SEED` repeats a printed line.
  private static let environment = ProcessInfo.processInfo.environment
  private static let starts = environment["RUNBUS_SOAK_STARTS"].flatMap { Int($0) } ?? 1
  private static let seed =
    environment["RUNBUS_SOAK_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...UInt64(UInt32.max))

  @Test("Up to 10^6 s apart and up to 50 ppm too fast or slow, they start within 50 ms, and agree")
  func starts() async throws {
    try await withTestBus { bus in
      var skews: [Double] = []
      for number in 0..<Self.starts {
        let up = try await bus.run(
          "up", "--runners", "4", "--goal", "60s", "--speed", "60", "--wrong-clocks", "\(Self.seed &+ UInt64(number))",
          "--json")
        #expect(up.ending == .exited(0), "\(up.errors) \(up.lines.suffix(1))")
        let summary = try #require(up.json.last)
        #expect(summary["agreed"]?.bool == true)
        skews.append(try #require(summary["startSkewSeconds"]?.number))
      }
      skews.sort()
      func text(_ seconds: Double) -> String { "\((seconds * 10_000).rounded() / 10) ms" }
      print(
        "starts \(skews.count) of four phones, skew p50 \(text(skews[(skews.count - 1) / 2])), "
          + "max \(text(skews.last ?? 0)), seed \(Self.seed)")
      #expect(try #require(skews.last) <= 0.05)
    }
  }
}
