import Foundation
import TestSupport
import Testing

@Suite("Messages of apps between processes")
struct MessageTests {
  private func spawn(_ role: String, on bus: TestBus) async throws -> NodeProcess {
    let node = bus.spawn(executable: TestBus.busnode, [role, "--json"])
    try await node.snapshot("its first snapshot") { _ in true }
    return node
  }
  /// Waits for the message with a name and returns its event.
  private func message(_ name: String, at node: NodeProcess) async throws -> JSONValue {
    try await node.event("message \(name)") { $0["event"]?.string == "message" && $0["name"]?.string == name }
  }

  @Test("A posted message is shown by monitor and by its receiver, whichever way it goes")
  func bothWays() async throws {
    try await withTestBus { bus in
      let phone = try await spawn("phone", on: bus)
      let watch = try await spawn("watch", on: bus)
      let monitor = bus.spawn(executable: TestBus.busnode, ["monitor", "--json"])
      let lines = bus.spawn(executable: TestBus.busnode, ["monitor"])
      for view in [monitor, lines] { try await view.wait(for: "a snapshot") { $0.lines.isEmpty ? nil : () } }

      let posted = try await bus.run("post", "greeting", "hello", "--json")
      #expect(posted.ending == .exited(0), "\(posted.errors)")
      let greeting = try await message("greeting", at: monitor)
      #expect(greeting["messageId"] == posted.json.first?["id"])
      #expect(greeting["fromDeviceId"]?.string == "watch" && greeting["toDeviceId"]?.string == "phone")
      // Others see only the length: a message's text is for its sender and its receiver.
      #expect(greeting["bytes"]?.int == 5 && greeting["text"] == .null)
      let taken = try await message("greeting", at: phone)
      #expect(taken["messageId"] == greeting["messageId"] && taken["text"]?.string == "hello")

      let answer = try await bus.run("post", "answer", "two\nlines", "--to", "watch")
      #expect(answer.ending == .exited(0) && answer.lines.count == 1, "\(answer.errors)")
      let shown = try await message("answer", at: monitor)
      #expect(shown["fromDeviceId"]?.string == "phone" && shown["text"] == .null)
      #expect(try await message("answer", at: watch)["text"]?.string == "two\nlines")
      let expected = [
        "message greeting from watch to phone, 5 bytes", "message answer from phone to watch, 9 bytes",
      ]
      try await lines.wait(for: "its lines") { view in
        view.lines.filter { $0.hasPrefix("message") } == expected ? () : nil
      }

      // A long text is reported by its length.
      let long = String(repeating: "x", count: 2000)
      #expect(try await bus.run("post", "long", long).ending == .exited(0))
      let told = try await message("long", at: phone)
      #expect(told["bytes"]?.int == 2000 && told["text"] == .null)
      for node in [watch, phone] {
        node.signal(SIGTERM)
        #expect(try await node.ending() == .exited(0), "\(node.view.errors)")
      }
    }
  }

  @Test("A message waits at its node while the phone is away, and arrives when it is back")
  func waits() async throws {
    try await withTestBus { bus in
      let phone = try await spawn("phone", on: bus)
      let watch = try await spawn("watch", on: bus)
      phone.signal(SIGTERM)
      _ = try await phone.ending()
      #expect(try await bus.run("post", "later").ending == .exited(0))
      let waiting = try #require(try await bus.run("outbox", "--json", "--device", "watch").json.first)
      #expect(waiting["kind"]?.string == "message" && waiting["what"]?.string == "later")
      let next = bus.spawn(executable: TestBus.busnode, ["phone", "--json"])
      let later = try await message("later", at: next)
      #expect(later["messageId"] == waiting["id"] && later["text"]?.string == "" && later["bytes"]?.int == 0)
      for node in [watch, next] {
        node.signal(SIGTERM)
        #expect(try await node.ending() == .exited(0), "\(node.view.errors)")
      }
    }
  }

  @Test("An impossible post gives one line with the reason")
  func refused() async throws {
    try await withTestBus { bus in
      let phone = try await spawn("phone", on: bus)
      let cases: [([String], Int32, String)] = [
        (["note", "--to", "nobody"], 3, "this hub has never met nobody"),
        (["note", "--from", "phone"], 3, "say which device it is for"),
        (["note"], 69, "watch does not run on this machine"), ([""], 64, "a name is 1 to 64 bytes"),
        (["note", String(repeating: "x", count: 32_769)], 64, "a body at most 32768 bytes"),
      ]
      for (arguments, status, reason) in cases {
        let process = bus.spawn(executable: TestBus.busnode, ["post", "--json"] + arguments)
        #expect(try await process.ending() == .exited(status), "\(arguments.first ?? "")")
        #expect(process.view.errors.count == 1 && process.view.errors[0].contains(reason), "\(process.view.errors)")
      }
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
    }
  }
}
