import Foundation
import RunBus
import Testing
import TestSupport

@Suite("The documents")
struct DocumentTests {
  @Test("Every command that a page shows prints what the page shows", arguments: Checkout.pages)
  func consoleBlocks(name: String) async throws {
    let page = DocumentPage(name: name, text: try Checkout.text(name))
    guard !page.commands.isEmpty else { return }
    try await withTestBus { bus in
      for mismatch in try await DocumentSession(page: page, bus: bus).run() { Issue.record("\(mismatch)") }
    }
  }

  @Test("Every make target that a page names is in the Makefile", arguments: Checkout.documents)
  func makeTargets(name: String) throws {
    let makefile = try Checkout.text("Makefile").split(separator: "\n")
    for command in DocumentPage(name: name, text: try Checkout.text(name)).commands {
      guard let target = command.makeTarget else { continue }
      #expect(makefile.contains { $0.hasPrefix(target + ":") }, "\(name):\(command.line): no target \(target)")
    }
  }

  @Test("Every link from a page to a file of the repository leads to one", arguments: Checkout.documents)
  func links(name: String) throws {
    let folder = Checkout.root.appendingPathComponent(name).deletingLastPathComponent()
    for link in try Checkout.text(name).matches(of: /\]\(([^)#\s]+)(?:#[^)]*)?\)/) {
      let target = String(link.output.1)
      guard !target.contains("://") else { continue }
      let path = folder.appendingPathComponent(target).standardizedFileURL.path
      #expect(FileManager.default.fileExists(atPath: path), "\(name) links to \(target)")
    }
  }

  @Test(
    "Every file of the repository that a page names is there, and so is every test suite", arguments: Checkout.documents
  )
  func names(name: String) throws {
    let tree = try CheckoutTree()
    #expect(tree.missing(in: try Checkout.text(name)) == [], "\(name) names what is not in the checkout")
  }

  @Test("README.md has at most 120 lines")
  func length() throws {
    #expect(try Checkout.text("README.md").count { $0 == "\n" } <= 120)
  }

  @Test("docs/cli.md names every command and option of busnode, and no other option")
  func commandReference() async throws {
    let page = try Checkout.text("docs/cli.md")
    try await withTestBus { bus in
      let view = try await bus.run("--experimental-dump-help")
      let dump = JSONValue(text: view.lines.joined(separator: "\n"))
      var options: Set<String> = []
      for command in Self.commands(try #require(dump?["command"])) {
        #expect(page.contains("`\(command.path)"), "docs/cli.md does not name \(command.path)")
        options.formUnion(command.options)
      }
      #expect(!options.isEmpty)
      let named = Set(
        page.matches(of: /`[^`\n]*`/).flatMap { $0.output.matches(of: /--[a-z][a-z-]*/).map { String($0.output) } })
      #expect(options.subtracting(named).sorted() == [], "options that docs/cli.md does not name")
      #expect(named.subtracting(options).sorted() == [], "options that no command has")
    }
  }

  @Test("Every help has a line for each paragraph, which the terminal wraps, and examples and tables of 78 columns")
  func helpWidth() async throws {
    try await withTestBus { bus in
      let dump = JSONValue(text: try await bus.run("--experimental-dump-help").lines.joined(separator: "\n"))
      var commands = [try #require(dump?["command"])]
      var count = 0
      while let command = commands.popLast() {
        commands += command["subcommands"]?.array ?? []
        let lines = (command["discussion"]?.string ?? "").components(separatedBy: "\n")
        count += 1
        for (line, next) in zip(lines, lines.dropFirst() + [""]) {
          let isParagraph = !line.isEmpty && !line.hasPrefix(" ")
          #expect(line.count <= 78 || isParagraph, "too wide: \(line)")
          #expect(!isParagraph || next.isEmpty || next.hasPrefix(" "), "a paragraph in two lines: \(line)")
        }
      }
      #expect(count > 30)
    }
  }

  /// The commands under this one as a person writes them, each with its long options.
  private static func commands(_ dump: JSONValue, under path: String? = nil) -> [(path: String, options: [String])] {
    (dump["subcommands"]?.array ?? []).flatMap { command -> [(path: String, options: [String])] in
      guard let name = command["commandName"]?.string, name != "help", command["shouldDisplay"]?.bool != false else {
        return []
      }
      let path = path.map { "\($0) \(name)" } ?? name
      // What is hidden is for tests.
      let shown = (command["arguments"]?.array ?? []).filter { $0["shouldDisplay"]?.bool != false }
      let names = shown.flatMap { $0["names"]?.array ?? [] }
      let options = names.filter { $0["kind"]?.string == "long" }.compactMap { $0["name"]?.string.map { "--" + $0 } }
      return [(path, options)] + commands(command, under: path)
    }
  }

  @Test("docs/cli.md names every exit status of busnode")
  func statuses() async throws {
    let page = try Checkout.text("docs/cli.md")
    try await withTestBus { bus in
      let help = try await bus.run("--help").lines.compactMap { $0.prefixMatch(of: #/\s\s([0-9]+) +\S/#)?.output.1 }
      let table = page.matches(of: /\n\| ([0-9]+) \|/).map { $0.output.1 }
      #expect(!help.isEmpty)
      #expect(help == table)
    }
  }

  @Test("The Swift of README.md is compiled with these tests, and follows a run to its end")
  func embedding() async throws {
    let code = try Checkout.text("Tests/Processes/Documents/Embedding.swift")
    let block = try Checkout.text("README.md").components(separatedBy: "```swift\n").dropFirst().first
    #expect(block?.components(separatedBy: "```").first == code)
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--json", "--synthetic", "--speed", "10", "--debounce", "0")
      try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
      let location = BusLocation(
        bus: BusName("default"),
        environment: ["XDG_RUNTIME_DIR": bus.runtimeDirectory, "XDG_STATE_HOME": bus.stateDirectory])
      async let worn = within(seconds: 90, "the end of the run") { try await wear(location) }
      try await phone.event("the run") { $0["phase"]?.string == "running" }
      #expect(try await bus.run("send", "stop").ending == .exited(0))
      #expect(try await worn?.phase == .completed)
    }
  }
}

@Suite("The reader of console blocks")
struct DocumentSessionTests {
  private func mismatches(_ block: String, varying: String = "", deadline: Double = 90) async throws -> [String] {
    let comment = varying.isEmpty ? "" : "<!-- varies: \(varying) -->\n"
    let page = DocumentPage(name: "page.md", text: "# Page\n\n\(comment)```console\n\(block)\n```\n")
    return try await withTestBus { bus in
      try await DocumentSession(page: page, bus: bus, deadline: deadline).run().map(\.description)
    }
  }

  @Test(
    "Output as it is shown is right",
    arguments: [
      ("$ echo one; echo two\none\ntwo", ""),
      ("$ seq 9\n1\n...\n9", ""),
      ("$ echo ran for 12 s, 2.5 km\nran for ... km", ""),
      ("$ echo 'a   7:31 /km    x'\na  12:05 /km  x", "12:05"),
      ("$ false\n$ echo $?\n1", ""),
      ("$ here=5\n$ echo \\\n> $here\n5", ""),
      ("$ echo 0badcafe 0badcafe\nfeedf00d feedf00d\n$ echo feed\n0bad\n$ echo feedf00d\nfeedf00d", ""),
      ("$ make test", ""),
      ("$ command -v busnode || echo none\nnone\n$ .build/release/busnode --version\n0.1.0 (...)", ""),
      ("$ tail -f /dev/null &\n$ kill %1 && wait %1\n$ echo $?\n143", ""),
    ])
  func right(block: String, varying: String) async throws {
    #expect(try await mismatches(block, varying: varying) == [])
  }

  @Test(
    "Output that is not as it is shown is named with page, line, what was expected and what came",
    arguments: [
      ("$ echo 7\n8", ""),
      ("$ echo 7 km 9\n8 km 8", "7"),
      ("$ echo 7:31\n12", "12"),
      ("$ seq 2\n1", ""),
      ("$ seq 2\n1\n2\n3", ""),
      ("$ seq 9\n1\n...\n8", ""),
      ("$ echo oops >&2", ""),
      ("$ echo 0badcafe 1badcafe\nfeedf00d feedf00d", ""),
    ])
  func wrong(block: String, varying: String) async throws {
    let found = try await mismatches(block, varying: varying)
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix(varying.isEmpty ? "page.md:4: $ " : "page.md:5: $ ") == true, "\(found)")
  }

  @Test("A mismatch shows both sides")
  func message() async throws {
    #expect(
      try await mismatches("$ true\n$ echo 7; echo 8\n7\n9") == [
        "page.md:5: $ echo 7; echo 8\nexpected:\n  | 7\n  | 9\ngot:\n  | 7\n  | 8"
      ])
  }

  @Test("A command that does not end, and a process that the page leaves, are named; neither is alive afterwards")
  func leftovers() async throws {
    try await withTestBus { bus in
      for (block, isHanging) in [("$ tail -f /dev/null", true), ("$ tail -f /dev/null &", false)] {
        let name = bus.directory + "/pid-\(isHanging)"
        // The page does not end before the process in the background has written its id.
        let rest = isHanging ? "" : " &\n$ until test -s \(name); do sleep 0.01; done"
        let page = DocumentPage(
          name: "page.md",
          text: "```\n$ sh -c 'echo $$ > \(name); exec \(block.dropFirst(2).prefix(17))'\(rest)\n```")
        try await withTestBus { inner in
          let found = try await DocumentSession(page: page, bus: inner, deadline: isHanging ? 12 : 90).run()
          #expect(found.count == 1)
          #expect(found.first?.description.contains(isHanging ? "did not end" : "leaves running") == true, "\(found)")
        }
        let id = try String(contentsOfFile: name, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        try await lookFor("its end") { kill(Int32(id) ?? 0, 0) != 0 }
      }
    }
  }
}
