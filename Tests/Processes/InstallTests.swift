import Foundation
import Testing
import TestSupport

@Suite("What make install puts on a machine")
struct InstallTests {
  /// The files below a folder, by their paths in it.
  private func files(_ folder: String) -> [String] {
    let tree = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return tree.filter { path in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: "\(folder)/\(path)", isDirectory: &isFolder) && !isFolder.boolValue
    }.sorted()
  }

  /// Runs scripts/install with the tested program.
  private func install(_ bus: TestBus, _ variables: String, _ argument: String = "") async throws -> NodeProcess.View {
    try await bus.shell("BUSNODE_BINARY=\"$BUSNODE\" \(variables) '\(Checkout.path("scripts/install"))' \(argument)")
  }

  @Test("It installs program, completions, manual and service, and uninstalls these and nothing else")
  func roundTrip() async throws {
    try await withTestBus { bus in
      let (root, prefix) = (bus.directory + "/root", "/opt/run bus")
      let there = root + prefix + "/share/man/man1/mine.1"
      try FileManager.default.createDirectory(
        atPath: (there as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try "mine".write(toFile: there, atomically: true, encoding: .utf8)

      // The second time it replaces what is there.
      for _ in 1...2 {
        let view = try await install(bus, "DESTDIR='\(root)' PREFIX='\(prefix)'")
        #expect(view.ending == .exited(0), "\(view.errors)")
      }
      let installed = Set(files(root + prefix))
      for file in [
        "bin/busnode", "share/bash-completion/completions/busnode", "share/zsh/site-functions/_busnode",
        "share/fish/vendor_completions.d/busnode.fish", "share/man/man1/busnode.1", "share/man/man1/busnode-send.1",
        "share/busnode/installed", "share/man/man1/mine.1",
      ] { #expect(installed.contains(file), "\(file) is missing") }
      let version = try await bus.shell("'\(root)\(prefix)/bin/busnode' --version")
      #expect(version.lines.first?.contains("(wire ") == true, "\(version.lines) \(version.errors)")
      let bash = try await bus.shell("bash -n '\(root)\(prefix)/share/bash-completion/completions/busnode'")
      #expect(bash.ending == .exited(0), "\(bash.errors)")
      // Who completes keeps `$!`, the process that the shell has started last.
      let completed = try await bus.shell(
        """
        . '\(root)\(prefix)/share/bash-completion/completions/busnode'
        sleep 60 & first=$!
        COMP_WORDS=(busnode state --units ''); COMP_CWORD=3
        COMP_LINE='busnode state --units '; COMP_POINT=${#COMP_LINE}
        _busnode busnode '' --units
        echo "${COMPREPLY[*]}" $(( $! == first ))
        kill $first
        """)
      #expect(completed.lines == ["metric imperial 1"], "\(completed.lines) \(completed.errors)")
      #if os(Linux)
        let unit = try String(
          contentsOfFile: root + prefix + "/share/systemd/user/busnode-phone@.service", encoding: .utf8)
        #expect(unit.contains("ExecStart=\"\(prefix)/bin/busnode\" phone "), "\(unit)")
        #expect(!unit.contains("@bindir@"))
      #endif

      let gone = try await install(bus, "DESTDIR='\(root)' PREFIX='\(prefix)'", "--uninstall")
      #expect(gone.ending == .exited(0), "\(gone.errors)")
      #expect(files(root) == ["opt/run bus/share/man/man1/mine.1"])
      try FileManager.default.removeItem(atPath: there)
      let folders = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
      #expect(folders.count == 5, "only the folders that were there before: \(folders)")
    }
  }

  @Test("A wrong folder, a program that is not there and an uninstallation of nothing are refused in a sentence")
  func badInput() async throws {
    try await withTestBus { bus in
      let listed = "\(bus.directory)/listed"
      let victim = "\(bus.directory)/victim"
      try "".write(toFile: victim, atomically: true, encoding: .utf8)
      let folder = listed + "/usr/local/share/busnode"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      for line in [
        "file /../victim", "file /other/file", "file", "folder ../victim", "file x/busnode", "file ",
        "file /etc/passwd", "file /etc/busnode", "file /usr/local/../busnode", "file /usr/localx/busnode",
        "folder /etc", "link /usr/local/busnode",
      ] {
        try "file /usr/local/share/busnode/installed\n\(line)\n".write(
          toFile: folder + "/installed", atomically: true, encoding: .utf8)
        let view = try await install(bus, "DESTDIR='\(listed)' PREFIX=/usr/local", "--uninstall")
        #expect(view.ending == .exited(65) && view.errors.count == 1, "\(line) \(view.errors)")
        #expect(FileManager.default.fileExists(atPath: folder + "/installed"), "\(line)")
      }
      #expect(FileManager.default.fileExists(atPath: victim))
      // The same list is right for who gives the folder.
      try "file /usr/local/share/busnode/installed\nfile /other/busnode\n".write(
        toFile: folder + "/installed", atomically: true, encoding: .utf8)
      for (given, status) in [("", Int32(65)), ("BASH_DIR=/other/", 0)] {
        let view = try await install(bus, "DESTDIR='\(listed)' PREFIX=/usr/local \(given)", "--uninstall")
        #expect(view.ending == .exited(status), "\(given) \(view.errors)")
      }
      for (variables, argument, status, words) in [
        ("PREFIX=local", "", Int32(64), "absolute path"), ("PREFIX=/a%b", "", 64, "cannot hold"),
        ("PREFIX=/a/../b", "", 64, "absolute paths"), ("BASH_DIR=relative", "", 64, "absolute paths"),
        ("DESTDIR='\(bus.directory)/none'", "--uninstall", 66, "nothing was installed"),
        ("DESTDIR='\(bus.directory)' BUSNODE_BINARY=/nothing", "", 66, "no program"), ("", "--remove", 64, "usage"),
      ] {
        let view = try await install(bus, variables, argument)
        #expect(view.ending == .exited(status), "\(variables) \(view.errors)")
        #expect(view.errors.count == 1 && view.errors[0].contains(words), "\(view.errors)")
      }
    }
  }

  @Test("A shell completes buses, devices and records, and hears nothing where there are none")
  func completions() async throws {
    try await withTestBus { bus in
      func complete(_ path: String, _ argument: String, _ line: String) async throws -> [String] {
        let view = try await bus.shell(
          "\"$BUSNODE\" ---completion \(path) -- \(argument) 9 0 busnode \(path) \(line) ''")
        #expect(view.ending == .exited(0) && view.errors.isEmpty, "\(path) \(argument) \(line): \(view.errors)")
        return view.lines
      }
      for argument in ["positional@0", "--bus", "--device"] {
        #expect(try await complete("records show", argument, "") == [])
      }
      let phone = bus.spawn("phone", "--bus", "home", "--json")
      try await phone.snapshot("its first snapshot") { _ in true }
      let imported = try await bus.run("records", "import", RecordProcessTests.synthetic, "--bus", "home", "--json")
      #expect(imported.ending == .exited(0), "\(imported.errors)")
      let id = try #require(imported.json.first?["runId"]?.string)
      // Of a phone that runs, and of one that has ended.
      for isRunning in [true, false] {
        if !isRunning {
          phone.signal(SIGTERM)
          #expect(try await phone.ending() == .exited(0))
        }
        #expect(try await complete("records show", "--bus", "") == ["home"])
        #expect(try await complete("records show", "--device", "--bus home") == ["phone"])
        #expect(try await complete("records show", "positional@0", "--bus=home") == [String(id.prefix(8))])
        #expect(try await complete("records show", "positional@0", "--bus nobody") == [])
        #expect(try await complete("devices revoke", "positional@0", "--bus home") == [])
        for (path, option) in [
          ("listen", "--device"), ("answer", "--device"), ("ask", "--of"), ("ask", "--from"), ("post", "--from"),
          ("latest", "--from"), ("monitor", "--device"), ("send", "--device"), ("room leave", "--device"),
        ] { #expect(try await complete(path, option, "--bus home") == ["phone"], "\(path) \(option)") }
      }
      #expect(try await complete("config set", "positional@1", "units") == ["metric", "imperial"])
      #expect(try await complete("config set", "positional@1", "--context bus colours") == ["auto", "always", "never"])
      #expect(try await complete("config set", "positional@1", "weight") == [])
      // A line that cannot be completed is no error either.
      #expect(try await complete("records show", "--nonsense", "") == [])
    }
  }
}
