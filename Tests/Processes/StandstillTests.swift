import Foundation
import RunBus
import Testing
import TestSupport

@Suite("A process that hangs loses nothing and does not delay the others")
struct StandstillTests {
  @Test("A phone that hangs until the others miss it judges every press made meanwhile, once")
  func frozenPhone() async throws {
    try await withTestBus { bus in
      var crew = try Crew(bus, debounce: 20)
      for index in crew.members.indices { crew.spawn(index) }
      try await crew.areInTouch()
      crew.press(.start, on: Crew.watch)
      for member in crew.members { try await member.process.shows("running", revision: 1) }

      crew.members[Crew.phone].process.signal(SIGSTOP)
      crew.visit(.lap)
      for kind in [CommandKind.pause, .resume, .lap] {
        for index in [Crew.watch, Crew.watch2, Crew.widget] { crew.press(kind, on: index) }
      }
      // A press is queued at once, although the phone hangs.
      for index in [Crew.watch, Crew.watch2, Crew.widget] { try await crew.isPromised(on: index) }
      for index in [Crew.watch, Crew.watch2, Crew.widget] {
        try await crew.members[index].process.wait(for: "\(crew.members[index].device) missing the phone") { view in
          view.json.last { $0["event"]?.string == "link" }?["reachable"]?.bool == false ? true : nil
        }
      }
      crew.members[Crew.phone].process.signal(SIGCONT)

      try await crew.areInTouch()
      try await crew.drain()
      try await crew.end()
      try CrewAccount(crew).expectAllIsWell()
    }
  }

  @Test("While a watch hangs the others see every revision; it shows the last one when it continues")
  func frozenWatch() async throws {
    try await withTestBus { bus in
      var crew = try Crew(bus, debounce: 0)
      for index in crew.members.indices { crew.spawn(index) }
      try await crew.areInTouch()
      crew.press(.start, on: Crew.phone)
      for member in crew.members { try await member.process.shows("running", revision: 1) }

      crew.members[Crew.watch].process.signal(SIGSTOP)
      let last = 201
      for revision in 2...last { crew.press(revision.isMultiple(of: 2) ? .pause : .resume, on: Crew.widget) }
      for index in [Crew.phone, Crew.watch2, Crew.widget] {
        let process = crew.members[index].process
        try await process.shows("running", revision: last)
        // A lock screen shows the newest revision and not each one.
        guard index != Crew.widget else { continue }
        #expect(process.revisions.isSuperset(of: 1...last), "\(crew.members[index].device)")
      }
      crew.members[Crew.watch].process.signal(SIGCONT)
      try await crew.members[Crew.watch].process.shows("running", revision: last)

      try await crew.drain()
      try await crew.end()
      try CrewAccount(crew).expectAllIsWell()
    }
  }
}
