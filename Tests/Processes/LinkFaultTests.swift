import Foundation
import RunBus
import Testing
import TestSupport

@Suite("Failing links lose nothing and delay nobody else")
struct LinkFaultTests {
  /// Each fault of a link at least once, in both directions if it has one.
  private static let faults: [LinkFault] = [
    .cut(reset: true, midFrame: false), .cut(reset: false, midFrame: true),
    .halfOpen([.up], includesNew: true), .halfOpen([.down], includesNew: false),
    .halfOpen([.up, .down], includesNew: false),
    .delay(milliseconds: 300), .throttle(bytesPerSecond: 2000),
    .corrupt(.greeting(offset: 0), .down), .corrupt(.greeting(offset: 12), .up),
    .corrupt(.greeting(offset: 12), .down), .corrupt(.header, .up), .corrupt(.header, .down), .corrupt(.body, .up),
    .corrupt(.body, .down),
  ]

  @Test(
    "A watch's presses are judged once and in order over a failing link, and it shows what all show",
    arguments: faults)
  func fault(_ fault: LinkFault) async throws {
    try await withTestBus { bus in
      var crew = try Crew(bus, debounce: 0, link: .tcp)
      for index in crew.members.indices { crew.spawn(index) }
      try await crew.areInTouch()
      crew.press(.start, on: Crew.watch)
      for member in crew.members { try await member.process.shows("running", revision: 1) }

      let proxy = try #require(crew.proxies[Crew.watch])
      // The fault may hit an old acknowledgement first, so a byte is changed several times.
      let times = fault.kind == .corrupt ? 4 : 1
      for time in 1...times {
        proxy.apply(fault)
        for kind in [CommandKind.pause, .resume, .lap] { crew.press(kind, on: Crew.watch) }
        // A press is queued at once, whatever the link does.
        try await crew.isPromised(on: Crew.watch)
        try await proxy.effects.wait(for: "an effect of \(fault)") { $0.count >= time ? true : nil }
      }
      // The other members are not affected.
      crew.press(.lap, on: Crew.watch2)
      _ = try await crew.members[Crew.watch2].process.verdict("lap")
      proxy.heal()

      try await crew.areInTouch()
      try await crew.drain()
      try await crew.agree()
      try await crew.end()
      let account = try CrewAccount(crew)
      account.expectAllIsWell("\(fault)")
      #expect(account.commands == 6 + 3 * times)
    }
  }
}
