import Foundation
import Testing
import TestSupport

@Suite("Two phones on one bus")
struct SecondPhoneTests {
  @Test("The second phone names the holder and exits 75; the first is not disturbed", arguments: Link.allCases)
  func secondPhone(link: Link) async throws {
    try await withTrio(link) { trio in
      let (phone, watch, widget) = try await trio.start()
      phone.write("start")
      for node in [phone, watch, widget] { try await node.shows("running", revision: 1) }
      for device in ["phone", "phone2"] {
        let second = try await trio.run("phone", "--device", device, "--json")
        #expect(second.ending == .exited(75))
        #expect(second.lines.isEmpty)
        let error = second.errors.last.flatMap { JSONValue(text: $0) }?["error"]
        #expect(error?["exitCode"]?.int == 75, "\(second.errors)")
        let id = try #require(phone.view.processID)
        #expect(error?["message"]?.string?.contains("process \(id) (phone)") == true, "\(second.errors)")
      }
      watch.write("pause")
      for node in [phone, watch, widget] { try await node.shows("paused", revision: 2, term: 1) }
      // Nobody lost the first phone for a moment.
      #expect(!watch.lostTheHub && !widget.lostTheHub)
    }
  }
}
