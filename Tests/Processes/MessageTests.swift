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
        // Each line begins with the time of day.
        view.lines.map { $0.dropFirst(13) }.filter { $0.hasPrefix("message") }.map(String.init) == expected ? () : nil
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
        (["note"], 69, "watch does not run on this machine"), ([""], 64, "a name or key is 1 to 64 bytes"),
        (["note", String(repeating: "x", count: 32_769)], 64, "a body at most 32768 bytes"),
        (["note", "--key", "k"], 64, "--key is for --class latest"),
        (["note", "--class", "live", "--wait", "processed"], 64, "ask for it with busnode ask"),
        (["note", "--to", "nobody", "--class", "latest"], 3, "this hub has never met nobody"),
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

  @Test("A listener gets each message with its body on standard input, and one that is killed gives its message back")
  func listens() async throws {
    try await withTestBus { bus in
      let phone = try await spawn("phone", on: bus)
      let watch = try await spawn("watch", on: bus)
      let place = bus.directory
      // The first command ends only with its listener, which is killed.
      let endless = "while kill -0 $PPID 2> /dev/null; do sleep 0.1; done"
      let hung = bus.spawn("listen", "note", "--exec", "cat > \(place)/first; echo begun; \(endless)")
      try await hung.wait(for: "its place") { $0.errors.contains("busnode: listening at phone") ? () : nil }
      let posting = bus.spawn("post", "note", "one\ntwo", "--wait", "processed", "--timeout", "90", "--json")
      func body(_ name: String) -> String? { try? String(contentsOfFile: "\(place)/\(name)", encoding: .utf8) }
      try await hung.wait(for: "its command") { $0.lines == ["begun"] ? () : nil }
      #expect(body("first") == "one\ntwo")
      // What it was given waits for the next listener of its name, and nobody else gets it meanwhile.
      let command = "cat > \(place)/second; echo $RUNBUS_MESSAGE_NAME $RUNBUS_MESSAGE_FROM"
      let next = bus.spawn("listen", "note", "--count", "1", "--exec", command)
      hung.signal(SIGKILL)
      #expect(try await next.ending() == .exited(0), "\(next.view.errors)")
      #expect(next.view.lines == ["note watch"] && body("second") == "one\ntwo")
      #expect(try await posting.ending() == .exited(0), "\(posting.view.errors)")
      #expect(posting.view.json.first?["stage"]?.string == "processed")

      let plain = bus.spawn("listen", "--json")
      try await plain.wait(for: "its place") { $0.errors.isEmpty ? nil : () }
      #expect(try await bus.run("post", "late", "x").ending == .exited(0))
      let line = try await plain.event("late") { $0["name"]?.string == "late" }
      #expect(line["text"]?.string == "x" && line["class"]?.string == "queued" && line["base64"] == .null)
      plain.signal(SIGINT)
      #expect(try await plain.ending() == .exited(130))
      for node in [watch, phone] {
        node.signal(SIGTERM)
        #expect(try await node.ending() == .exited(0), "\(node.view.errors)")
      }
    }
  }

  @Test("Values and answers are raw bytes, and who gives no answer is told of in one line")
  func valuesAndAnswers() async throws {
    try await withTestBus { bus in
      let phone = try await spawn("phone", on: bus)
      let watch = try await spawn("watch", on: bus)
      let sent = try await bus.run("post", "units", "km", "--class", "latest", "--wait", "processed")
      #expect(sent.ending == .exited(0), "\(sent.errors)")
      #expect(try await bus.shell("[ \"$($BUSNODE latest units | od -An -tx1)\" = ' 6b 6d' ]").ending == .exited(0))
      let listed = try #require(try await bus.run("latest", "--json").json.first)
      #expect(listed["key"]?.string == "units" && listed["fromDeviceId"]?.string == "watch")
      #expect(listed["bytes"]?.int == 2 && listed["ageSeconds"]?.number ?? 60 < 60)

      let command = "read a b; [ $b ] && echo $((a+b))"
      let answering = bus.spawn("answer", "sum", "--device", "watch", "--count", "1", "--exec", command)
      try await answering.wait(for: "its place") { $0.errors.isEmpty ? nil : () }
      let cases: [([String], Int32, String)] = [
        (["sum", "1", "--of", "watch"], 3, "watch gave no answer: it ended with exit status 1"),
        (["other", "--of", "watch", "--timeout", "0.1s"], 69, "gave no answer to \"other\" within 0.1 s"),
        (["sum", "--from", "widget"], 69, "widget on bus default does not run on this machine"),
        (["sum", "--of", "nobody"], 3, "the hub has never met this device"),
      ]
      for (arguments, status, reason) in cases {
        let asked = bus.spawn(executable: TestBus.busnode, ["ask"] + arguments)
        #expect(try await asked.ending() == .exited(status), "\(arguments) \(asked.view.errors)")
        #expect(asked.view.errors.count == 1 && asked.view.errors[0].contains(reason), "\(asked.view.errors)")
      }
      let asked = try await bus.run("ask", "sum", "20 22", "--of", "watch")
      #expect(asked.ending == .exited(0) && asked.lines == ["42"], "\(asked.errors)")
      #expect(try await answering.ending() == .exited(0), "\(answering.view.errors)")
      for node in [watch, phone] {
        node.signal(SIGTERM)
        #expect(try await node.ending() == .exited(0), "\(node.view.errors)")
      }
    }
  }
}
