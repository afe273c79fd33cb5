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
    /// How a command names the bus where it is: peers may each have an address of their own for the same phone.
    let place: [String]
    /// Where its store lies.
    let store: String
    /// Where the shells beside it leave what they press.
    let spool: String
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
  /// What stands between a peer and the phone, by the peer's place in ``members``; nothing where they meet in files.
  private(set) var proxies: [Int: FaultProxy] = [:]
  private(set) var oneShots: [NodeProcess] = []
  /// What the phone runs under: `busnode` itself, or a program that begins it.
  var phoneLauncher: [String] = []

  /// Nobody runs yet. Over TCP every peer reaches the phone through a proxy of its own.
  init(_ bus: TestBus, debounce: Int, link: Link = .ipc) throws {
    self.bus = bus
    var ports: [UInt16?] = [nil, nil, nil, nil]
    if link == .tcp {
      let port = try #require(Loopback.freeFixedPort())
      ports[Self.phone] = port
      for index in [Self.watch, Self.watch2, Self.widget] {
        let proxy = try FaultProxy(before: port)
        proxies[index] = proxy
        ports[index] = proxy.port
      }
    }
    let environment = bus.environment.compactMapValues(\.self)
    let names = [("phone", "phone"), ("watch", "watch"), ("watch", "watch2"), ("widget", "widget")]
    members = try zip(names, ports).map { name, port in
      let address = port.map { "tcp://127.0.0.1:\($0)" }
      let location = try BusLocation(bus: nil, address: address, environment: environment)
      return Member(
        role: name.0, device: name.1, place: address.map { ["--address", $0] } ?? [],
        store: location.stateDirectory(for: try #require(DeviceID(name.1))), spool: location.spoolDirectory)
    }
    members[Self.phone].arguments = ["--debounce", "\(debounce)"]
  }

  /// Where the phone itself listens: what does not come through a proxy connects there.
  var control: String { members[Self.phone].place.last ?? "ipc://\(bus.runtimeDirectory)/runbus/default/control.sock" }

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
      launcher + [TestBus.busnode, member.role, "--device", member.device, "--json", "--stdin"] + member.place
      + member.arguments
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

  /// A shell presses, where a node is, and waits no longer than a script would.
  mutating func visit(_ kind: CommandKind, beside index: Int = Self.phone) {
    let oneShot = bus.spawn(
      executable: TestBus.busnode, ["send", kind.rawValue, "--json", "--timeout", "3"] + members[index].place,
      environment: Self.environment)
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

  /// A node stands still.
  func stop(_ index: Int) async throws {
    let process = members[index].process
    try await process.wait(for: "its process") { $0.processID }
    process.signal(SIGSTOP)
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
    for spool in Set(members.map(\.spool)) {
      try await lookFor("an empty spool") {
        guard FileManager.default.fileExists(atPath: spool) else { return true }
        return try !FileManager.default.contentsOfDirectory(atPath: spool).contains { $0.hasSuffix(".json") }
      }
    }
    // Behind everything else: once these are judged, everything is.
    for index in members.indices { press(.lap, on: index) }
    for member in members {
      let (written, promise) = (member.written, member.promise)
      try await member.process.wait(for: "a verdict for each of the \(written) presses on \(member.device)") { view in
        let promised = Set(view.stages(promise))
        // A press that is turned away (a phone whose disk is far behind) has a verdict and was never promised.
        let judged = Set(view.json.lazy.filter { $0["event"]?.string == "verdict" }.compactMap { $0["commandId"] })
        return judged.union(promised).count >= written && judged.isSuperset(of: promised) ? true : nil
      }
    }
  }

  /// Waits until everybody shows the same revision of the same life; nobody presses any more.
  func agree() async throws {
    func places() -> [[Int]] { members.map { $0.process.place ?? [] } }
    while Set(places()).count > 1 {
      let newest = places().max { $0.lexicographicallyPrecedes($1) } ?? []
      for member in members {
        try await member.process.wait(for: "\(member.device) at term, revision \(newest)") { view in
          view.place?.lexicographicallyPrecedes(newest) == false ? true : nil
        }
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

extension NodeProcess {
  /// The term and the revision that it shows.
  fileprivate var place: [Int]? { view.place }
}

extension NodeProcess.View {
  /// The term and the revision that it shows.
  fileprivate var place: [Int]? { json.last { $0["event"]?.string == "snapshot" }.map { Array($0.order.prefix(2)) } }

  /// The ids of the commands that came to a stage before their verdict, in the order in which they did.
  func stages(_ stage: String) -> [JSONValue] {
    json.filter { $0["event"]?.string == "receipt" && $0["receipt"]?.string == stage }.compactMap { $0["commandId"] }
  }
}
