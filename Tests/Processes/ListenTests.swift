import Foundation
import RunBus
import TestSupport
import Testing

@Suite("A phone that listens at several places")
struct ListenTests {
  @Test("phone --listen serves one run by its name and at an address, and the presses that waited at either")
  func listen() async throws {
    try await withTestBus { bus in
      let address = "tcp://127.0.0.1:\(try #require(Loopback.freePort()))"
      let arguments = ["phone", "--json", "--debounce", "0", "--listen", address, "--insecure"]
      let phone = bus.spawn(executable: TestBus.busnode, arguments)
      _ = try await phone.event("the phone") { $0["event"]?.string == "snapshot" }
      let watch = bus.spawn("watch", "--json", "--address", address, "--insecure")
      _ = try await watch.event("the link") { $0["event"]?.string == "link" && $0["reachable"]?.bool == true }
      #expect(try await bus.run("send", "start").ending == .exited(0))
      _ = try await watch.snapshot("the run") { $0["phase"]?.string == "running" }
      #expect(try await bus.run("send", "pause", "--address", address, "--insecure").ending == .exited(0))
      _ = try await phone.snapshot("the pause") { $0["phase"]?.string == "paused" }
      phone.signal(SIGKILL)
      _ = try await phone.ending()
      #expect(
        try await bus.run("send", "resume", "--address", address, "--insecure", "--timeout", "500ms").ending
          == .exited(5))
      let next = bus.spawn(executable: TestBus.busnode, arguments)
      _ = try await next.snapshot("the press that waited") { $0["phase"]?.string == "running" }
    }
  }

  @Test(
    "A wrong --listen is one line and exit status 64",
    arguments: [
      (["--listen", "tcp://127.0.0.1:*", "--insecure"], "lets the system choose the port"),
      (["--listen", "tcp://192.0.2.1:7070", "--insecure"], "beyond this machine"),
      (["--listen", "tcp://127.0.0.1:7071", "--listen", "tcp://127.0.0.1:7071", "--insecure"], "is given twice"),
      (["--insecure"], "none is given"), (["--listen", "nowhere"], "is no address to listen at"),
      (["--listen", "tcp://*:65535"], "no room for the next two ports"),
      (["--listen", "tcp://*:7070", "--events-port", "7070"], "three ports"),
    ])
  func wrong(arguments: [String], message: String) async throws {
    try await withTestBus { bus in
      let phone = bus.spawn(executable: TestBus.busnode, ["phone"] + arguments)
      let ending = try await phone.ending()
      #expect(ending == .exited(64))
      #expect(phone.view.errors.count == 1 && phone.view.errors[0].contains(message), "\(phone.view.errors)")
    }
  }
}
