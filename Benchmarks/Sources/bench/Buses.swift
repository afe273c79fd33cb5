import ArgumentParser
import Foundation
import RunBus

struct Buses: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "What many buses cost in one process, each a hub and a watch, as a simulator has them (Linux).",
    discussion: """
      Stores in memory. With loops of their own each bus has one loop; with shared ones all are on a LoopGroup.
      """)

  @Option(help: "How many buses.") var count = 100
  @Option(help: "Seconds at rest; a ping comes every ten.") var seconds = 20

  func validate() throws {
    guard count > 0, seconds > 0 else { throw ValidationError("sizes are positive numbers") }
  }

  func run() async throws {
    print("\(count) buses, \(seconds) s at rest; load \(Machine.load) on \(Machine.cores) cores\n")
    print(
      """
      | links | loops | all joined, s | threads | descriptors | KiB a bus | at rest, ms a second | all starts judged, s | \
      in runs, ms a second |
      |---|---|---|---|---|---|---|---|---|
      """)
    for links in BusLinks.allCases {
      for loops in BusLoops.allCases {
        let output = try await collect(
          CommandLine.arguments[0],
          ["buses-role", "\(count)", "\(seconds)", "--links", links.rawValue, "--loops", loops.rawValue])
        print(output, terminator: "")
      }
    }
  }
}

enum BusLinks: String, ExpressibleByArgument, CaseIterable {
  case inProcess = "in process"
  case zeroMQ = "ZeroMQ"
}

enum BusLoops: String, ExpressibleByArgument, CaseIterable {
  case own, shared
}

struct BusesRole: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "buses-role", shouldDisplay: false)
  @Argument var count: Int
  @Argument var seconds: Int
  @Option var links: BusLinks
  @Option var loops: BusLoops

  func run() async throws {
    alarm(300)
    let place = try Place.make()
    defer { place.remove() }
    let group = try loops == .shared ? LoopGroup() : nil
    let before = ProcessUse(of: getpid())
    let began = monotonic()
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      var nodes: [(hub: Hub, watch: Peer)] = []
      for number in 0..<count {
        let (hub, watch) = try bus(number, at: place, on: group?.next() ?? Loop())
        tasks.addTask { try await hub.run() }
        tasks.addTask { try await watch.run() }
        nodes.append((hub, watch))
      }
      for (_, watch) in nodes {
        for await link in await watch.reachabilities() where link.isReachable { break }
      }
      let joined = Double(monotonic() - began) / 1e9
      let settled = try await rest(1).after
      let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      let (first, second) = try await rest(seconds)
      let pressed = monotonic()
      try await withThrowingTaskGroup(of: Void.self) { presses in
        for (_, watch) in nodes { presses.addTask { _ = try await watch.send(Command(.start, source: .watch)) } }
        try await presses.waitForAll()
      }
      let judged = Double(monotonic() - pressed) / 1e9
      let (third, fourth) = try await rest(seconds)
      let cells = [
        links.rawValue, loops.rawValue, String(format: "%.2f", joined), "\(settled.threadCount)", "\(descriptors)",
        String(format: "%.0f", settled.kibibytes(since: before) / Double(count)),
        String(format: "%.1f", second.milliseconds(since: first) / Double(seconds)), String(format: "%.2f", judged),
        String(format: "%.1f", fourth.milliseconds(since: third) / Double(seconds)),
      ]
      print("| \(cells.joined(separator: " | ")) |")
      tasks.cancelAll()
      while await tasks.nextResult() != nil {}
    }
    group?.stop()
  }

  private func rest(_ seconds: Int) async throws -> (before: ProcessUse, after: ProcessUse) {
    let before = ProcessUse(of: getpid())
    try await Task.sleep(for: .seconds(seconds))
    return (before, ProcessUse(of: getpid()))
  }

  private func bus(_ number: Int, at place: Place, on loop: Loop) throws -> (hub: Hub, watch: Peer) {
    let hub = HubConfiguration(deviceID: "phone", debounce: .zero)
    let watch = PeerConfiguration(deviceID: "watch", role: .watch)
    switch links {
    case .inProcess:
      let bus = InProcessBus()
      return (
        Hub(configuration: hub, listeners: [bus.listener], store: NodeStore(), loop: loop),
        Peer(configuration: watch, connector: bus.connector, store: NodeStore(), loop: loop)
      )
    case .zeroMQ:
      let (control, events) = ("\(place.control)\(number)", "\(place.events)\(number)")
      return (
        Hub(
          configuration: hub, listeners: [ZeroMQListener(control: control, events: events)], store: NodeStore(),
          loop: loop),
        Peer(configuration: watch, connector: ZeroMQConnector(control: control), store: NodeStore(), loop: loop)
      )
    }
  }
}
