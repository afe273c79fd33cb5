import Foundation
import RunBus
import Testing
import TestSupport

/// Four nodes on a bus of their own, each a process that obeys its standard input, and the shells that come by: a phone,
/// two watches and a widget. It remembers all of their lives, for ``CrewAccount``.
struct Crew {
  /// One of the four.
  struct Member {
    let role: String
    let device: String
    /// How it is started: the rest of its command.
    var arguments: [String] = []
    /// Every process that it was, the present one last.
    var lives: [NodeProcess] = []
    /// Presses written to the present life.
    var written = 0
    var process: NodeProcess { lives[lives.count - 1] }
    var isPhone: Bool { role == "phone" }
  }

  /// The places of the four in ``members``.
  static let (phone, watch, watch2, widget) = (0, 1, 2, 3)

  let bus: TestBus
  var members: [Member]
  private(set) var oneShots: [NodeProcess] = []
  /// What the phone runs under: `busnode` itself, or a program that begins it.
  var phoneLauncher: [String] = []

  /// Nobody runs yet.
  init(_ bus: TestBus, debounce: Int) {
    self.bus = bus
    members = [("phone", "phone"), ("watch", "watch"), ("watch", "watch2"), ("widget", "widget")]
      .map { Member(role: $0, device: $1) }
    members[Self.phone].arguments = ["--debounce", "\(debounce)"]
  }

  /// Where the stores of this bus lie.
  var stores: String { bus.stateDirectory + "/runbus/default" }

  /// Everything that a node wrote to its standard error, in all of its lives.
  func errors(of index: Int) -> [String] { members[index].lives.flatMap(\.view.errors) }

  // MARK: Doing things

  /// Whoever is to be killed writes nothing about it.
  private static let environment: [String: String?] = ["SWIFT_BACKTRACE": "enable=no"]

  /// A node begins a life.
  mutating func spawn(_ index: Int) {
    let member = members[index]
    let launcher = member.isPhone ? phoneLauncher : []
    let command =
      launcher + [TestBus.busnode, member.role, "--device", member.device, "--json", "--stdin"] + member.arguments
    let process = bus.spawn(
      executable: command[0], Array(command.dropFirst()), environment: Self.environment)
    members[index].lives.append(process)
    members[index].written = 0
  }

  /// A button of a node is pressed.
  mutating func press(_ kind: CommandKind, on index: Int) {
    members[index].process.write(kind.rawValue)
    members[index].written += 1
  }

  /// A shell presses, and waits no longer than a script would.
  mutating func visit(_ kind: CommandKind) {
    let oneShot = bus.spawn("send", kind.rawValue, "--json", "--timeout", "3", environment: Self.environment)
    oneShot.closeInput()
    oneShots.append(oneShot)
  }

  /// A node dies without a word.
  func kill(_ index: Int) async throws {
    let process = members[index].process
    try await process.wait(for: "its process") { $0.processID }
    process.signal(SIGKILL)
    let ending = try await process.ending()
    #expect(ending == .signaled(SIGKILL), "\(members[index].device) ended by itself: \(process.view.errors)")
  }

  /// A node ends in good order.
  func end(_ index: Int) async throws {
    let process = members[index].process
    process.signal(SIGTERM)
    let ending = try await process.ending()
    #expect(ending == .exited(0), "\(members[index].device): \(process.view.errors)")
  }

  // MARK: Waiting

  /// Its first line shows that it has begun.
  func isUp(_ index: Int) async throws {
    try await members[index].process.wait(for: "the first line of \(members[index].device)") { $0.json.first }
  }

  /// Everybody runs and is in touch with the phone.
  func areInTouch() async throws {
    for index in members.indices {
      try await isUp(index)
      guard !members[index].isPhone else { continue }
      try await members[index].process.wait(for: "\(members[index].device) in touch with the phone") { view in
        view.json.last { $0["event"]?.string == "link" }?["reachable"]?.bool == true ? true : nil
      }
    }
  }

  /// Waits until all that was pressed on a node in this life was promised to whoever pressed: it is durable somewhere.
  func isPromised(on index: Int) async throws {
    let (written, member) = (members[index].written, members[index])
    try await member.process.wait(for: "\(written) presses kept on \(member.device)") {
      Set($0.stages(member.promise)).count >= written ? true : nil
    }
  }

  /// Waits until everybody has been told what became of all that was pressed.
  mutating func drain() async throws {
    for oneShot in oneShots { _ = try await oneShot.ending() }
    try await within(seconds: 60, "an empty spool") { [stores] in
      let spool = stores + "/_spool"
      while FileManager.default.fileExists(atPath: spool),
        try FileManager.default.contentsOfDirectory(atPath: spool).contains(where: { $0.hasSuffix(".json") })
      {
        try await Task.sleep(for: .milliseconds(50))
      }
    }
    // Behind everything else: once these are judged, everything is.
    for index in members.indices { press(.lap, on: index) }
    for member in members {
      let (written, promise) = (member.written, member.promise)
      try await member.process.wait(for: "a verdict for each of the \(written) presses on \(member.device)") { view in
        let promised = Set(view.stages(promise))
        let judged = Set(view.json.lazy.filter { $0["event"]?.string == "verdict" }.compactMap { $0["commandId"] })
        return promised.count >= written && judged.isSuperset(of: promised) ? true : nil
      }
    }
  }

  /// Everybody ends in good order. Peers first: a hub that leaves before them is nothing they should have to wait for.
  func end() async throws {
    for index in members.indices.reversed() { try await end(index) }
  }
}

extension Crew.Member {
  /// The stage at which a press is promised to whoever pressed: durable in the outbox, or on the phone where it counts.
  var promise: String { isPhone ? "pending" : "queued" }
}

extension NodeProcess.View {
  /// The ids of the commands that came to a stage before their verdict, in the order in which they did.
  func stages(_ stage: String) -> [JSONValue] {
    json.filter { $0["event"]?.string == "receipt" && $0["receipt"]?.string == stage }.compactMap { $0["commandId"] }
  }
}
