import Foundation
import Testing
import TestSupport

/// A run that goes on while strangers do what they want: a watch pauses and resumes it, and everything that it says is
/// what it would have said without them.
struct Undisturbed {
  let phone: NodeProcess
  let watch: NodeProcess
  let widget: NodeProcess
  private(set) var presses = 0
  /// How fast bus time runs: a test that is short sees snapshots sooner.
  private let speed: Int

  /// The run begins.
  init(_ trio: Trio, speed: Int) async throws {
    self.speed = speed
    (phone, watch, widget) = try await trio.start(phone: ["--debounce", "0", "--speed", "\(speed)"])
    try await press()
  }

  /// The next press, and what becomes of it.
  mutating func press() async throws {
    presses += 1
    let (number, kind) = (presses, presses == 1 ? "start" : presses.isMultiple(of: 2) ? "pause" : "resume")
    watch.write(kind)
    let verdict = try await watch.wait(for: "verdict \(number)") { view in
      view.json.lazy.filter { $0["event"]?.string == "verdict" }.dropFirst(number - 1).first
    }
    #expect(verdict["receipt"]?.string == "applied" && verdict["revision"]?.int == number, "\(verdict)")
  }

  /// Presses as long as a process lives; while the run is on the widget sees a snapshot between two presses.
  mutating func goOn(while process: NodeProcess) async throws {
    while process.view.ending == nil {
      try await press()
      guard !presses.isMultiple(of: 2) else { continue }
      let revision = presses
      try await widget.wait(for: "a second snapshot of revision \(revision)") { view in
        view.json.count { $0["event"]?.string == "snapshot" && $0["revision"]?.int == revision } > 1 ? true : nil
      }
    }
  }

  /// Nobody lost the phone, and everybody has seen every snapshot of every revision, once.
  func expectAllIsWell() async throws {
    let presses = presses
    try await phone.snapshot("revision \(presses)") { $0["revision"]?.int == presses }
    let last = try #require(phone.snapshots.last).order
    for node in [phone, watch, widget] {
      try await node.snapshot("the last snapshot") { !$0.order.lexicographicallyPrecedes(last) }
      #expect(!node.lostTheHub)
      let seen = node.snapshots.map(\.order)
      #expect(seen == seen.sorted { $0.lexicographicallyPrecedes($1) } && Set(seen).count == seen.count)
      #expect(node.revisions.subtracting([0]) == Set(1...presses))
      // From the first that it saw on.
      let first = seen.first ?? last
      let published = phone.snapshots.map(\.order).drop { $0.lexicographicallyPrecedes(first) }
      #expect(Set(seen).isSuperset(of: published.prefix { !last.lexicographicallyPrecedes($0) }))
    }
    // Every three seconds; a longer gap than two of them says that one was left out. Less than a second of real time
    // says only how busy the machine was.
    if speed == 1 { #expect(longestGap < 6, "\(longestGap) s without a snapshot") }
    let verdicts = watch.view.json.filter { $0["event"]?.string == "verdict" }.compactMap { $0["commandId"]?.string }
    #expect(verdicts.count == presses && Set(verdicts).count == presses)
  }

  /// The longest time between two snapshots of a running run, in seconds of the run.
  var longestGap: Double {
    let running = phone.snapshots.filter { $0["phase"]?.string == "running" }
    return zip(running, running.dropFirst()).map { earlier, later in
      guard earlier["revision"] == later["revision"] else { return 0 }
      return (later["metrics"]?["elapsedSeconds"]?.number ?? 0) - (earlier["metrics"]?["elapsedSeconds"]?.number ?? 0)
    }.max() ?? 0
  }
}

extension Trio {
  /// Starts a Python client of the tests with the phone's address, a seed and more.
  func client(_ name: String, seed: UInt64, _ arguments: String...) -> NodeProcess {
    bus.spawn(
      executable: Checkout.python, [Clients.directory + "/" + name, control, "\(seed)"] + arguments,
      environment: ["PYTHONDONTWRITEBYTECODE": "1"])
  }
}

/// The Python clients of the tests.
enum Clients {
  static let directory = Checkout.path("Tests/Processes/Clients")

  /// `make chaos` has more time than `make test`; `SEED` repeats what a line named.
  static func size(_ name: String) -> Int? { environment["RUNBUS_CHAOS_\(name)"].flatMap { Int($0) } }
  static var seed: UInt64 {
    environment["RUNBUS_CHAOS_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...UInt64(UInt32.max))
  }
  private static var environment: [String: String] { ProcessInfo.processInfo.environment }
}
