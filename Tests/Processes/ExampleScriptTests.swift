import Foundation
import Testing
import TestSupport

@testable import busnode

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

  @Test("demo.run is a script that can be played, with presses from all three")
  func demo() throws {
    let text = try String(contentsOf: folder.appendingPathComponent("demo.run"), encoding: .utf8)
    let script = try Script(text, file: "demo.run")
    #expect(Set(script.steps.map(\.node)) == Set(SpawnedNode.allCases))
  }
}
