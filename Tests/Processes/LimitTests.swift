import Foundation
import RunBus
import Testing
import TestSupport

@Suite("At the limits of the machine", .serialized)
struct LimitTests {
  // Once broken: Any command aborted at some limits of descriptors between 10 and 26, because libzmq aborts when a
  // context's threads find no descriptor for their epoll.
  @Test("With too few descriptors every command ends with an error message, and a press is kept or refused")
  func tooFewDescriptors() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--json")
      try await phone.snapshot("its first snapshot") { _ in true }
      let commands = ["phone --bus other", "watch", "send lap", "state"]
      let line = """
        cd "$TMPDIR"
        for limit in 12 16 18 20 26 64; do for command in \(commands.map { "'\($0)'" }.joined(separator: " ")); do
          (ulimit -n $limit; SWIFT_BACKTRACE=enable=no exec timeout 5 "$BUSNODE" $command) </dev/null >out 2>err
          echo "$limit $command: $? $(tail -n 1 out err | tr '\\n' ' ')"
        done; done
        # A node raises its own soft limit.
        (ulimit -S -n 64; exec timeout 5 "$BUSNODE" phone --bus soft) </dev/null >out 2>err
        echo "soft phone: $? $(tail -n 1 err)"
        (ulimit -n 64; exec "$BUSNODE" send lap) </dev/null >out 2>err
        echo "64 send: $? $(tail -n 1 err)"
        """
      let view = try await bus.shell(line)
      #expect(view.lines.count == 26, "\(view.errors)")
      for line in view.lines {
        let words = line.split(separator: " ")
        let status = try #require(words.drop { !$0.hasSuffix(":") }.dropFirst().first.flatMap { Int($0) })
        // 124: `timeout` has ended it; 128 and more: a signal, for example of a crash.
        #expect(status < 128, "\(line)")
        #expect([0, 3, 5, 124].contains(status) || line.contains("busnode: "), "\(line)")
      }
      #expect(view.lines.contains { $0.hasPrefix("64 phone --bus other: 1 ") && $0.contains("raise the limit") })
      // The press was sent, and there was no run.
      #expect(view.lines.suffix(2).map { $0.split(separator: ":")[1].prefix(4) } == [" 124", " 3 "], "\(view.lines)")
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
    }
  }

  // Once broken: Forty idle connections ended a phone that may have 60 descriptors, because libzmq 4.3.4 aborts when
  // `accept` on ipc fails with EMFILE.
  @Test(
    "A hub without free descriptors cuts every connection: nodes come back, no press is lost",
    .enabled("needs scripts/bootstrap --python") { Checkout.hasPython })
  func floodOfConnections() async throws {
    try await withTrio(.ipc) { trio in
      let phone = trio.spawn(
        "/bin/bash",
        script: "ulimit -n 200; exec \"$BUSNODE\" phone --debounce 0 --json \(trio.place.joined(separator: " "))")
      try await phone.snapshot("its first snapshot") { _ in true }
      let watch = trio.spawn("watch")
      try await watch.snapshot("its first snapshot") { _ in true }
      watch.write("start")
      try await watch.shows("running", revision: 1)
      for round in 1...2 {
        let holder = trio.client("hold.py", seed: 1, "1000")
        // Pressed while the connections are being cut.
        watch.write("lap")
        #expect(try await holder.ending() == .exited(0), "\(holder.view.errors)")
        #expect(phone.view.ending == nil, "\(phone.view.errors)")
        watch.write(round == 1 ? "pause" : "resume")
        try await watch.shows(round == 1 ? "paused" : "running", revision: round + 1)
      }
      let state = try await trio.run("state", "--json")
      #expect(state.json.first?["metrics"]?["lapCount"]?.int == 2, "\(state.errors)")
      // Logged once, however often it happens.
      #expect(phone.view.errors.count { $0.contains("every connection is cut") } == 1, "\(phone.view.errors)")
      #expect(phone.view.errors.count < 5, "\(phone.view.errors)")
    }
  }

  @Test(
    "Subscribers that never read use bounded memory of the hub, and the others see every snapshot",
    .enabled("needs scripts/bootstrap --python") { Checkout.hasPython })
  func muteSubscribers() async throws {
    let (presses, mutes) = (Clients.size("PRESSES") ?? 300, 5)
    try await withTrio(.ipc) { trio in
      let (phone, watch, widget) = try await trio.start(phone: ["--debounce", "0"])
      let events = trio.control.replacingOccurrences(of: "control.sock", with: "events.sock")
      let mute = trio.bus.spawn(executable: Checkout.python, [Clients.directory + "/mute.py", events, "1", "\(mutes)"])
      try await mute.wait(for: "its subscriptions") { $0.lines.contains("subscribed") ? true : nil }
      let before = phone.footprint
      for number in 1...presses {
        watch.write(number == 1 ? "start" : number.isMultiple(of: 2) ? "pause" : "resume")
        // A device whose screen is slow shows the newest snapshot only.
        for node in [phone, watch, widget] {
          try await node.snapshot("revision \(number)") { $0["revision"]?.int == number }
        }
      }
      for node in [phone, watch] {
        let missed = Set(1...presses).subtracting(node.revisions).count
        #expect(missed == 0 && !node.lostTheHub)
      }
      #expect(!widget.lostTheHub)
      let after = phone.footprint
      mute.closeInput()
      #expect(try await mute.ending() == .exited(0), "\(mute.view.errors)")
      guard let before, let after else { return }
      // A queue holds 1,024 messages; snapshots and feed events are well below 1 KiB each.
      #expect(after.hasGrown(byLessThan: (mutes + 16) * 1024, since: before), "\(before), then \(after)")
      guard Clients.size("PRESSES") != nil else { return }
      print(
        """
        \(mutes) subscribers that never read, \(presses) revisions: phone and watch saw each; \
        the hub \(before.residentKilobytes / 1024) MiB before, \(after.residentKilobytes / 1024) MiB after
        """)
    }
  }
}

extension Trio {
  /// Starts a node by a line of shell.
  func spawn(_ shell: String, script: String) -> NodeProcess {
    adopt(bus.spawn(executable: shell, ["-c", script], environment: ["SWIFT_BACKTRACE": "enable=no"]))
  }
}
