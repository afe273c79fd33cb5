import Foundation
import TestSupport

/// Runs the commands of a page in one shell, in order, as a reader would who has just cloned and built the repository.
///
/// The shell's directory contains what the checkout contains, and the command under test as `.build/release/busnode`. What
/// a page writes there does not reach the checkout. `busnode` is not on the PATH until the page puts it there.
struct DocumentSession {
  /// Something that a page shows and that is not so.
  struct Mismatch: CustomStringConvertible {
    let page: String
    let line: Int
    let command: String
    let expected: [String]
    let got: [String]

    var description: String {
      """
      \(page):\(line): $ \(command)
      expected:
      \(expected.map { "  | " + $0 }.joined(separator: "\n"))
      got:
      \(got.map { "  | " + $0 }.joined(separator: "\n"))
      """
    }
  }

  let page: DocumentPage
  let bus: TestBus
  /// How long one command may take.
  var deadline: Double = 90

  private var directory: String { bus.directory + "/checkout" }

  /// Runs the page; returns where it is wrong. A page ends at a command that does not end.
  func run() async throws -> [Mismatch] {
    try makeCheckout()
    let shell = bus.spawn(
      executable: "/bin/bash", ["--noprofile", "--norc"],
      environment: [
        "HOME": bus.directory, "TZ": "UTC", "COLUMNS": nil, "LINES": nil, "BUSNODE": nil, "LC_ALL": nil,
        "LANG": "C.UTF-8",
      ], ownsGroup: true)
    shell.write("cd \(directory); document_status=0")
    var mismatches: [Mismatch] = []
    var ids = ConsoleOutput.IDs()
    for (index, command) in page.commands.enumerated() where command.makeTarget == nil {
      guard let lines = try await run(ConsoleOutput.command(command.text, with: ids), index, in: shell) else {
        mismatches.append(mismatch(command, try output(index) + ["... and it did not end within \(deadline) s"]))
        break
      }
      if let found = command.output.match(lines, ids) {
        ids = found
      } else {
        mismatches.append(mismatch(command, lines))
      }
    }
    if mismatches.isEmpty, let last = page.commands.last {
      let left = try await run("jobs -r", page.commands.count, in: shell) ?? []
      if !left.isEmpty {
        mismatches.append(
          Mismatch(
            page: page.name, line: last.line, command: "jobs -r   # the page leaves running", expected: [], got: left))
      }
    }
    // A command that hangs keeps the shell from ending by itself; its whole group ends with it.
    shell.signal(SIGKILL)
    _ = try await shell.ending()
    return mismatches
  }

  private func mismatch(_ command: DocumentPage.Command, _ got: [String]) -> Mismatch {
    Mismatch(page: page.name, line: command.line, command: command.text, expected: command.output.lines, got: got)
  }

  /// Runs one command to its end; returns what it wrote, `nil` when it does not end.
  private func run(_ text: String, _ index: Int, in shell: NodeProcess) async throws -> [String]? {
    let command = bus.directory + "/command-\(index)"
    try (text + "\n").write(toFile: command, atomically: true, encoding: .utf8)
    // The command sees the exit status of the one before it as `$?`.
    shell.write(
      "(exit $document_status); . \(command) </dev/null >\(bus.directory)/output-\(index) 2>&1; "
        + "document_status=$?; echo done \(index)")
    do {
      try await shell.wait(for: "the end of: \(text)", within: deadline) { view in
        view.lines.last == "done \(index)" ? true : nil
      }
    } catch is NodeProcess.WaitError {
      return nil
    }
    return try output(index)
  }

  private func output(_ index: Int) throws -> [String] {
    let text = try String(contentsOfFile: bus.directory + "/output-\(index)", encoding: .utf8)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    return lines.last == "" ? lines.dropLast() : lines
  }

  private func makeCheckout() throws {
    let files = FileManager.default
    try files.createDirectory(atPath: directory + "/.build/release", withIntermediateDirectories: true)
    try files.createSymbolicLink(atPath: directory + "/.build/release/busnode", withDestinationPath: TestBus.busnode)
    for entry in try files.contentsOfDirectory(atPath: Checkout.root.path) where !entry.hasPrefix(".") {
      try files.createSymbolicLink(
        atPath: directory + "/" + entry, withDestinationPath: Checkout.root.appendingPathComponent(entry).path)
    }
  }
}

/// The repository that the tests were built from.
extension Checkout {
  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The pages, and what contributors read.
  static let documents = pages + ["CONTRIBUTING.md"]
  /// README.md and every page under docs.
  static let pages: [String] = {
    let docs = (try? FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("docs").path)) ?? []
    return ["README.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }
  }()
}
