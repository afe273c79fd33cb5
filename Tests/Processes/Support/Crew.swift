import Foundation
import RunBus
import Testing
import TestSupport

/// Four nodes on a bus of their own, each a process with orders on standard input: a phone, two watches and a widget.
/// Besides there are shells that send one press. The crew keeps all their processes for ``CrewAccount``.
struct Crew {
  /// One of the four nodes.
  struct Member {
    let role: String
    let device: String
    /// The arguments that name the bus there: each peer may have another address for the same phone.
    fileprivate(set) var place: [String]
    /// The directory of its store.
    fileprivate(set) var store: String
    /// The spool of the shells beside it.
    fileprivate(set) var spool: String
    /// The words before each of its commands, and the variables of its processes, which are those of its machine.
    var launcher: [String] = []
    var environment: [String: String?] = [:]
    /// The rest of its command's arguments.
    var arguments: [String] = []
    /// All of its processes; the present one is last.
    var lives: [NodeProcess] = []
    /// Presses written to the present process.
    var written = 0
    var process: NodeProcess { lives[lives.count - 1] }
    var isPhone: Bool { role == "phone" }
  }

  /// The indices of the four in ``members``.
  static let (phone, watch, watch2, widget) = (0, 1, 2, 3)

  let bus: TestBus
  var members: [Member]
  /// The proxies between peers and the phone, by the peer's index in ``members``; empty on a bus of local sockets.
  private(set) var proxies: [Int: FaultProxy] = [:]
  private(set) var oneShots: [NodeProcess] = []
  /// The machines of paired members, and the phone's port there; `nil` if all share this machine's directories.
  private var machines: (all: Machines, port: UInt16)?

  /// Creates a crew without running nodes. Over TCP every peer reaches the phone through a proxy of its own.
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
        role: name.0, device: name.1, place: address.map { ["--address", $0, "--insecure"] } ?? [],
        store: location.stateDirectory(for: try #require(DeviceID(name.1))), spool: location.spoolDirectory)
    }
    members[Self.phone].arguments = ["--debounce", "\(debounce)"]
  }

  /// Creates a crew whose four members are paired: each has directories and keys of its own, and three machines are
  /// there for them. Call ``pair()`` before nodes are started.
  init(paired bus: TestBus, debounce: Int) throws {
    try self.init(bus, debounce: debounce)
    let machines = Machines()
    let port = machines.areNamespaces ? 7070 : try #require(Loopback.freeFixedPorts())
    self.machines = (machines, port)
    members[Self.phone].place = ["--listen", "tcp://\(machines.areNamespaces ? "*" : "127.0.0.1"):\(port)"]
    members[Self.phone].launcher = machines.launcher(at: .phone)
    for index in [Self.watch, Self.watch2, Self.widget] {
      let place = index == Self.widget ? Machines.Place.widget : .watches
      proxies[index] = try FaultProxy(
        before: port, events: port + 1, of: machines.host(of: .phone), at: machines.near(place))
      members[index].launcher = machines.launcher(at: place)
      members[index].environment = try PairedMachine(members[index].device, on: bus).environment
    }
  }

  /// Pairs the members of ``init(paired:debounce:)``, and leaves the phone running.
  mutating func pair() async throws {
    guard let (machines, port) = machines else { return }
    spawn(Self.phone)
    try await isUp(Self.phone)
    for index in [Self.watch, Self.watch2, Self.widget] {
      let (member, place) = (members[index], index == Self.widget ? Machines.Place.widget : .watches)
      let pair = bus.spawn(executable: TestBus.busnode, ["pair", "--yes", "--json"])
      let line = try #require(try await pair.event("the line") { $0["step"]?.string == "open" }["line"]?.string)
      let rest = try #require(line.firstRange(of: "/?").map { line[$0.lowerBound...] })
      let pairing = try FaultProxy(before: port + 2, of: machines.host(of: .phone), at: machines.near(place))
      let command =
        member.launcher + [
          TestBus.busnode, "join", "--device", member.device, "--role", member.role, "--json", "--control",
          "tcp://\(machines.near(place)):\(proxies[index]?.port ?? 0)", "--events-port",
          "\(proxies[index]?.eventsPort ?? 0)",
        ]
      let join = bus.spawn(
        executable: command[0], Array(command.dropFirst()), environment: member.environment)
      join.write("runbus://\(machines.near(place)):\(pairing.port)\(rest)")
      #expect(try await join.ending() == .exited(0), "\(join.view)")
      #expect(try await pair.ending() == .exited(0), "\(pair.view)")
      let shown = bus.spawn(
        executable: TestBus.busnode, ["keys", "show", "--json"], environment: member.environment)
      _ = try await shown.ending()
      let busID = try #require(shown.view.json.first?["busId"]?.string)
      let state = try #require(member.environment["XDG_STATE_HOME"] ?? nil) + "/runbus/_bus-\(busID)"
      (members[index].store, members[index].spool) = (state + "/" + member.device, state + "/_spool")
    }
  }

  /// The address at which the phone itself listens, without a proxy.
  var control: String {
    members[Self.phone].place.dropFirst().first ?? "ipc://\(bus.runtimeDirectory)/runbus/default/control.sock"
  }

  /// The lines of a node's standard error, over all of its processes.
  func errors(of index: Int) -> [String] { members[index].lives.flatMap(\.view.errors) }

  // MARK: Actions

  /// A process that is to be killed must not write a backtrace.
  private static let environment: [String: String?] = ["SWIFT_BACKTRACE": "enable=no"]

  /// Starts a process of a node.
  mutating func spawn(_ index: Int) {
    let member = members[index]
    let command =
      member.launcher + [TestBus.busnode, member.role, "--device", member.device, "--json", "--stdin"] + member.place
      + member.arguments
    let process = bus.spawn(
      executable: command[0], Array(command.dropFirst()),
      environment: Self.environment.merging(member.environment) { $1 })
    members[index].lives.append(process)
    members[index].written = 0
  }

  /// Presses a button of a node.
  mutating func press(_ kind: CommandKind, on index: Int) {
    members[index].process.write(kind.rawValue)
    members[index].written += 1
  }

  /// Presses from a shell beside a node, with the short timeout of a script.
  mutating func visit(_ kind: CommandKind, beside index: Int = Self.phone) {
    let member = members[index]
    // A shell finds a paired phone by its name.
    let place = machines == nil ? member.place : []
    let command = member.launcher + [TestBus.busnode, "send", kind.rawValue, "--json", "--timeout", "3"] + place
    let oneShot = bus.spawn(
      executable: command[0], Array(command.dropFirst()),
      environment: Self.environment.merging(member.environment) { $1 })
    oneShot.closeInput()
    oneShots.append(oneShot)
  }

  /// Kills a node with kill -9.
  func kill(_ index: Int) async throws {
    let process = members[index].process
    try await process.wait(for: "its process") { $0.processID }
    process.signal(SIGKILL)
    let ending = try await process.ending()
    #expect(ending == .signaled(SIGKILL), "\(members[index].device) ended by itself: \(process.view.errors)")
  }

  /// Stops a node with SIGSTOP.
  func stop(_ index: Int) async throws {
    let process = members[index].process
    try await process.wait(for: "its process") { $0.processID }
    process.signal(SIGSTOP)
  }

  /// Ends a node properly.
  func end(_ index: Int) async throws {
    let process = members[index].process
    process.signal(SIGTERM)
    let ending = try await process.ending()
    #expect(ending == .exited(0), "\(members[index].device): \(process.view.errors)")
  }

  // MARK: Waiting

  /// Waits for a node's first line, which shows that it has started.
  func isUp(_ index: Int) async throws {
    try await members[index].process.wait(for: "the first line of \(members[index].device)") { $0.json.first }
  }

  /// Waits until all nodes run and the peers reach the phone.
  func areInTouch() async throws {
    for index in members.indices {
      try await isUp(index)
      guard !members[index].isPhone else { continue }
      try await members[index].process.wait(for: "\(members[index].device) in touch with the phone") { view in
        view.json.last { $0["event"]?.string == "link" }?["reachable"]?.bool == true ? true : nil
      }
    }
  }

  /// Waits until all presses of a node's present process were promised, that is, are durable somewhere.
  func isPromised(on index: Int) async throws {
    let (written, member) = (members[index].written, members[index])
    try await member.process.wait(for: "\(written) presses kept on \(member.device)") {
      Set($0.stages(member.promise)).count >= written ? true : nil
    }
  }

  /// Waits until every node has told the verdicts of all its presses.
  mutating func drain() async throws {
    for oneShot in oneShots { _ = try await oneShot.ending() }
    for spool in Set(members.map(\.spool)) {
      try await lookFor("an empty spool") {
        guard FileManager.default.fileExists(atPath: spool) else { return true }
        return try !FileManager.default.contentsOfDirectory(atPath: spool).contains { $0.hasSuffix(".press") }
      }
    }
    // After all other presses: once these are judged, all are.
    for index in members.indices { press(.lap, on: index) }
    for member in members {
      let (written, promise) = (member.written, member.promise)
      try await member.process.wait(for: "a verdict for each of the \(written) presses on \(member.device)") { view in
        let promised = Set(view.stages(promise))
        let verdicts = view.json.filter { $0["event"]?.string == "verdict" }
        // A press may be refused when a disk is far behind: it has a verdict and was never promised. Other verdicts
        // without a promise belong to presses of this node's earlier processes.
        let refused = Set(verdicts.filter { $0["reason"]?.string == "busy" }.compactMap { $0["commandId"] })
        let judged = Set(verdicts.compactMap { $0["commandId"] })
        return promised.union(refused).count >= written && judged.isSuperset(of: promised) ? true : nil
      }
    }
  }

  /// Waits until all nodes show the same term and revision; no press follows.
  ///
  /// - Returns: that term and revision.
  @discardableResult
  func agree() async throws -> [Int] {
    func places() -> [[Int]] { members.map { $0.process.place ?? [] } }
    while Set(places()).count > 1 {
      let newest = places().max { $0.lexicographicallyPrecedes($1) } ?? []
      for member in members {
        try await member.process.wait(for: "\(member.device) at term, revision \(newest)") { view in
          view.place?.lexicographicallyPrecedes(newest) == false ? true : nil
        }
      }
    }
    return places()[0]
  }

  /// Ends all nodes properly, peers first, so that none of them waits for a hub that has ended.
  func end() async throws {
    for index in members.indices.reversed() { try await end(index) }
  }
}

extension Crew.Member {
  /// The stage at which a press is promised: durable in the outbox of a peer, or accepted on the phone.
  var promise: String { isPhone ? "pending" : "queued" }
}

extension NodeProcess {
  /// The term and the revision that it shows.
  fileprivate var place: [Int]? { view.place }
}

extension NodeProcess.View {
  /// The term and the revision that it shows.
  fileprivate var place: [Int]? { json.last { $0["event"]?.string == "snapshot" }.map { Array($0.order.prefix(2)) } }

  /// The ids of the commands that reached a stage before their verdict, in that order.
  func stages(_ stage: String) -> [JSONValue] {
    json.filter { $0["event"]?.string == "receipt" && $0["receipt"]?.string == stage }.compactMap { $0["commandId"] }
  }
}
