import Foundation
import Testing
import TestSupport

@Suite("The examples for the shell")
struct ExampleScriptTests {
  private var folder: URL {
    Checkout.root.appending(path: "examples/scripts")
  }

  @Test("drive-a-run.sh drives a run, and each press ends as the script says")
  func driveARun() async throws {
    try await withTestBus { bus in
      let script = bus.spawn(
        executable: folder.appendingPathComponent("drive-a-run.sh").path, [TestBus.busnode])
      let ending = try await script.ending(within: 90)
      #expect(ending == .exited(0), "\(script.view.errors)")
      #expect(script.view.lines.contains("stop was applied; the run is completed (revision 6)"))
    }
  }
}
