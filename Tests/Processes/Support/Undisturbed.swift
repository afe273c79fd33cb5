import Foundation
import Testing
import TestSupport

/// A run that must not be disturbed by strangers: a watch pauses and resumes it, and all output must be the same as
/// without them.
struct Undisturbed {
  let phone: NodeProcess
  let watch: NodeProcess
  let widget: NodeProcess
  private(set) var presses = 0
  /// The factor of bus time; a short test sees snapshots sooner.
  private let speed: Int

  /// Starts the nodes and the run.
  init(_ trio: Trio, speed: Int) async throws {
    self.speed = speed
    (phone, watch, widget) = try await trio.start(phone: ["--debounce", "0", "--speed", "\(speed)"])
    try await press()
  }

  /// Makes the next press and checks its effect.
  mutating func press() async throws {
    presses += 1
    let (number, kind) = (presses, presses == 1 ? "start" : presses.isMultiple(of: 2) ? "pause" : "resume")
    watch.write(kind)
    let verdict = try await watch.wait(for: "verdict \(number)") { view in
      view.json.lazy.filter { $0["event"]?.string == "verdict" }.dropFirst(number - 1).first
    }
    #expect(verdict["receipt"]?.string == "applied" && verdict["revision"]?.int == number, "\(verdict)")
  }

  /// Presses while a process runs; while the run is running the watch must see a snapshot between two presses.
  mutating func goOn(while process: NodeProcess) async throws {
    while process.view.ending == nil {
      try await press()
      guard !presses.isMultiple(of: 2) else { continue }
      let revision = presses
      try await watch.wait(for: "a second snapshot of revision \(revision)") { view in
        view.json.count { $0["event"]?.string == "snapshot" && $0["revision"]?.int == revision } > 1 ? true : nil
      }
    }
  }

  /// Expects that nobody lost the phone, that phone and watch have seen every snapshot of every revision, once, and that
  /// the lock screen shows the last revision.
  func expectAllIsWell() async throws {
    let presses = presses
    try await phone.snapshot("revision \(presses)") { $0["revision"]?.int == presses }
    let last = try #require(phone.snapshots.last).order
    try await widget.snapshot("revision \(presses)") { $0["revision"]?.int == presses }
    #expect(!widget.lostTheHub)
    for node in [phone, watch] {
      try await node.snapshot("the last snapshot") { !$0.order.lexicographicallyPrecedes(last) }
      #expect(!node.lostTheHub)
      let seen = node.snapshots.map(\.order)
      #expect(seen == seen.sorted { $0.lexicographicallyPrecedes($1) } && Set(seen).count == seen.count)
      #expect(node.revisions.subtracting([0]) == Set(1...presses))
      // From the first snapshot that it saw on.
      let first = seen.first ?? last
      let published = phone.snapshots.map(\.order).drop { $0.lexicographicallyPrecedes(first) }
      #expect(Set(seen).isSuperset(of: published.prefix { !last.lexicographicallyPrecedes($0) }))
    }
    // A snapshot comes every three seconds, so a gap of more than two intervals means that one is missing. With
    // faster bus time a gap shows only how busy the machine was.
    if speed == 1 { #expect(longestGap < 6, "\(longestGap) s without a snapshot") }
    let verdicts = watch.view.json.filter { $0["event"]?.string == "verdict" }.compactMap { $0["commandId"]?.string }
    #expect(verdicts.count == presses && Set(verdicts).count == presses)
  }

  /// The longest time between two snapshots of a running run, in seconds of run time.
  var longestGap: Double {
    let running = phone.snapshots.filter { $0["phase"]?.string == "running" }
    return zip(running, running.dropFirst()).map { earlier, later in
      guard earlier["revision"] == later["revision"] else { return 0 }
      return (later["metrics"]?["elapsedSeconds"]?.number ?? 0) - (earlier["metrics"]?["elapsedSeconds"]?.number ?? 0)
    }.max() ?? 0
  }
}

extension Trio {
  /// Starts a Python client with the phone's address, a seed and more arguments.
  func client(_ name: String, seed: UInt64, _ arguments: String...) -> NodeProcess {
    bus.spawn(
      executable: Checkout.python, [Clients.directory + "/" + name, control, "\(seed)"] + arguments,
      environment: ["PYTHONDONTWRITEBYTECODE": "1"])
  }
}

/// The Python clients of the tests.
enum Clients {
  static let directory = Checkout.path("Tests/Processes/Clients")

  /// `make chaos` runs for longer than `make test`; `SEED` repeats a printed line.
  static func size(_ name: String) -> Int? { environment["RUNBUS_CHAOS_\(name)"].flatMap { Int($0) } }
  static var seed: UInt64 {
    environment["RUNBUS_CHAOS_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...UInt64(UInt32.max))
  }
  private static var environment: [String: String] { ProcessInfo.processInfo.environment }
}
