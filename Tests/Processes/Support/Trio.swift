import Foundation
import Synchronization
import Testing
import TestSupport
import SystemC

/// How the nodes of a test are linked.
enum Link: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case ipc, tcp

  var testDescription: String { rawValue }
}

/// Phone, watch and widget on a bus of their own, as processes with orders on standard input.
struct Trio: Sendable {
  let bus: TestBus
  /// The arguments that name the bus: `--bus …` or `--address …`.
  let place: [String]
  /// The address at which the phone listens for peers.
  let control: String
  /// The port of a bus over TCP.
  let port: UInt16?
  private let spawned = Mutexed<[NodeProcess]>([])

  fileprivate init(_ bus: TestBus, _ link: Link) throws {
    self.bus = bus
    switch link {
    case .ipc:
      place = ["--bus", "trio"]
      control = "ipc://\(bus.runtimeDirectory)/runbus/trio/control.sock"
      port = nil
    case .tcp:
      let port = try #require(Loopback.freePort())
      place = ["--address", "tcp://127.0.0.1:\(port)", "--insecure"]
      control = "tcp://127.0.0.1:\(port)"
      self.port = port
    }
  }

  /// Starts a node with JSON output and orders on standard input.
  func spawn(_ role: String, _ arguments: [String] = []) -> NodeProcess {
    adopt(bus.spawn(executable: TestBus.busnode, [role, "--stdin", "--json"] + place + arguments))
  }

  /// Adds a node that was started in another way.
  func adopt(_ node: NodeProcess) -> NodeProcess {
    spawned.withLock { $0.append(node) }
    return node
  }

  /// Starts all three and waits until each shows a snapshot.
  func start(
    phone phoneArguments: [String] = [], watch watchArguments: [String] = []
  ) async throws -> (phone: NodeProcess, watch: NodeProcess, widget: NodeProcess) {
    let nodes = (phone: spawn("phone", phoneArguments), watch: spawn("watch", watchArguments), widget: spawn("widget"))
    for node in [nodes.phone, nodes.watch, nodes.widget] { try await node.snapshot("its first snapshot") { _ in true } }
    return nodes
  }

  /// Runs another command on this bus until it ends.
  func run(_ arguments: String...) async throws -> NodeProcess.View {
    let process = bus.spawn(executable: TestBus.busnode, arguments + place)
    process.closeInput()
    _ = try await process.ending()
    return process.view
  }

  /// The nodes that were started, dead ones included.
  fileprivate var nodes: [NodeProcess] { spawned.withLock { $0 } }
}

/// Runs a test with a bus of its own. At its end every running node ends properly, and no process, socket, file or
/// used port is left.
func withTrio(_ link: Link, _ body: @Sendable (Trio) async throws -> Void) async throws {
  let trio = try await withTestBus { bus in
    let trio = try Trio(bus, link)
    try await body(trio)
    let living = trio.nodes.filter { $0.view.ending == nil }
    // Peers first, so that none of them waits for a hub that has ended.
    for node in living.reversed() {
      node.signal(SIGTERM)
      #expect(try await node.ending() == .exited(0), "\(node.arguments): \(node.view.errors)")
    }
    let files = FileManager.default.enumerator(atPath: bus.runtimeDirectory)?.compactMap { $0 as? String } ?? []
    #expect(!files.contains { $0.hasSuffix(".sock") }, "\(files)")
    return trio
  }
  for node in trio.nodes {
    guard let id = node.view.processID else { continue }
    #expect(kill(id, 0) == -1, "\(node.arguments) still lives")
  }
  #expect(!FileManager.default.fileExists(atPath: trio.bus.directory))
  if let port = trio.port { #expect(Loopback.isFree(port), "port \(port) is still taken") }
}

extension NodeProcess {
  /// The snapshots that it showed, in order.
  var snapshots: [JSONValue] { view.json.filter { $0["event"]?.string == "snapshot" } }

  /// The revisions that it showed.
  var revisions: Set<Int> { Set(snapshots.compactMap { $0["revision"]?.int }) }

  /// Whether it reached the hub and then lost it.
  var lostTheHub: Bool {
    let link = view.json.filter { $0["event"]?.string == "link" }.map { $0["reachable"]?.bool == true }
    return link.drop { !$0 }.contains(false)
  }

  /// Waits until it shows a snapshot that satisfies a condition.
  @discardableResult
  func snapshot(
    _ what: String, within seconds: Double = 90, where isIt: @escaping @Sendable (JSONValue) -> Bool
  ) async throws -> JSONValue {
    try await event(what, within: seconds) { $0["event"]?.string == "snapshot" && isIt($0) }
  }

  /// Waits until it shows a revision with its phase.
  @discardableResult
  func shows(_ phase: String, revision: Int, term: Int? = nil) async throws -> JSONValue {
    try await snapshot("\(phase) at revision \(revision)") {
      $0["phase"]?.string == phase && $0["revision"]?.int == revision && (term == nil || $0["term"]?.int == term)
    }
  }

  /// Waits for the verdict of its own press.
  func verdict(_ command: String, from index: Int = 0) async throws -> JSONValue {
    try await event("the verdict of \(command)", from: index) {
      $0["event"]?.string == "verdict" && $0["command"]?.string == command
    }
  }
}

extension JSONValue {
  /// The order of a snapshot among all publications; arrays compare element by element.
  var order: [Int] { ["term", "revision", "tick"].map { self[$0]?.int ?? -1 } }
}

/// Ports of the loopback interface.
enum Loopback {
  /// A port that nobody listens on.
  static func freePort() -> UInt16? { claim(0) }

  /// A port that nobody listens on and that the system gives to nobody: one that comes back there finds it free.
  static func freeFixedPort() -> UInt16? { (20_000..<30_000).shuffled().lazy.compactMap { claim($0) }.first }

  /// The first of three ports in a row of which the same holds.
  static func freeFixedPorts() -> UInt16? {
    stride(from: UInt16(10_000), to: 20_000, by: 4).shuffled().first { first in
      // Tests run beside each other, and the one that was given these ports may not listen yet.
      (first...first + 2).allSatisfy { claim($0) != nil } && given.withLock { $0.insert(first).inserted }
    }
  }
  private static let given = Mutex<Set<UInt16>>([])

  /// Nobody listens on a port; what is left of closed connections does not count.
  static func isFree(_ port: UInt16) -> Bool { claim(port) != nil }

  /// Sends bytes to a port and reads the answer to its end; `nil` when nobody listens there.
  static func ask(_ text: String, at port: UInt16) -> String? {
    let descriptor = stream()
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // A server that hangs fails the test instead of holding it up.
    var patience = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = address(port)
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    let question = Array(text.utf8)
    guard isConnected, write(descriptor, question, question.count) == question.count else { return nil }
    var (answer, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 16 << 10))
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      answer += buffer.prefix(count)
    }
    return String(decoding: answer, as: UTF8.self)
  }

  private static func stream() -> Int32 {
    #if canImport(Glibc)
      socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      socket(AF_INET, SOCK_STREAM, 0)
    #endif
  }

  private static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return address
  }

  private static func claim(_ port: UInt16) -> UInt16? {
    let descriptor = stream()
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = address(port)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        guard bind(descriptor, pointer, size) == 0, getsockname(descriptor, pointer, &size) == 0 else {
          return nil
        }
        return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { UInt16(bigEndian: $0.pointee.sin_port) }
      }
    }
  }
}
