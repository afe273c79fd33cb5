import Foundation
import RunCore
import TestSupport

@testable import RunBus

/// Nodes on stores that get damaged: what they had kept before, and a life on what is left of it.
struct DamagedNode {
  /// What a node is.
  enum Role: CaseIterable { case phone, watch }

  let role: Role
  let loop: Loop

  private func node(_ store: NodeStore) throws -> any RunBus.Node {
    switch role {
    case .phone:
      Hub(
        configuration: HubConfiguration(deviceID: DeviceID("phone"), debounce: .milliseconds(1)),
        listeners: [NoWire()],
        store: store,
        loop: loop)
    case .watch:
      Peer(
        configuration: PeerConfiguration(deviceID: DeviceID("watch"), role: .watch), connector: NoWire(), store: store,
        loop: loop)
    }
  }

  /// Runs a node on a store while `body` uses it. Throws what the node ends with, unless it is its end.
  private func run(_ store: NodeStore, _ body: @escaping @Sendable (any RunBus.Node) async throws -> Void) async throws
  {
    let node = try node(store)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await node.run() }
      group.addTask { try await within("what the \(role) was to do") { try await body(node) } }
      // Whichever ends first: a node ends by itself only with an error.
      _ = try await group.next()
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  /// Presses and waits until that is durable: on a phone judged, on a watch kept.
  private func press(_ kind: CommandKind, on node: any RunBus.Node) async throws {
    let command = Command(kind, source: role == .phone ? .phone : .watch)
    let receipts = await node.receipts(for: command.id)
    let sending = Task { try await node.send(command) }
    defer { sending.cancel() }
    if role == .phone {
      _ = try await sending.value
    } else {
      for await receipt in receipts where receipt.stage == .queued { return }
      throw RunBusError(.closed, "the watch has ended")
    }
  }

  /// The files of a node that was killed in its second run, with half of what it kept still in the log.
  func makeFiles() async throws -> ScratchDirectory {
    let (scratch, files) = (try ScratchDirectory(), try ScratchDirectory())
    for isLast in [false, true] {
      try await run(try NodeStore(directory: scratch.path)) { node in
        try await press(.start, on: node)
        for second in 1...60 {
          let moment = SampleMoment.runOffset(.seconds(Int64(second)))
          let position = Position(latitude: 52 + Double(second) / 40_000, longitude: 13, horizontalAccuracyMeters: 5)
          try await node.add(Sample(moment: moment, value: .position(position)))
          try await node.add(Sample(moment: moment, value: .heartRate(bpm: 120 + Double(second % 7))))
          if second.isMultiple(of: 20) { try await press(.lap, on: node) }
        }
        try await press(.pause, on: node)
        try await press(.resume, on: node)
        if isLast { try files.takeFiles(of: scratch) } else { try await press(.stop, on: node) }
      }
    }
    return files
  }

  /// A life of a node on a directory: it starts, is used, and ends in good order. What was found wrong with its store.
  ///
  /// Throws what the start or the life ended with.
  func live(on directory: String) async throws -> [String] {
    let store = try NodeStore(directory: directory)
    try await run(store) { node in
      for kind in [CommandKind.start, .lap, .pause, .stop] { try await press(kind, on: node) }
      _ = try? await node.records.list()
    }
    return store.notices
  }
}

/// Draws damage to files from a seed.
struct DamageGenerator {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// Damages the database of a store, SQLite's log, or the log in front of the tables, as far as it was written.
  mutating func damage(_ directory: ScratchDirectory) throws {
    let name =
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1: "node.sqlite-wal"
      case 2, 3: "node.log-0"
      default: "node.sqlite"
      }
    let path = directory.file(name)
    var bytes = try Data(contentsOf: URL(filePath: path))
    var rest = Data()
    if name == "node.log-0", let last = bytes.lastIndex(where: { $0 != 0 }) {
      rest = Data(bytes[(last + 1)...])
      bytes = Data(bytes[...last])
    }
    guard !bytes.isEmpty else { return }
    let page = StoreSchema.pageSize
    let pages = max(1, bytes.count / page)
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1: bytes[place(in: bytes.count)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 2:
      let start = place(in: bytes.count)
      for index in start..<min(bytes.count, start + .random(in: 1...64, using: &random)) { bytes[index] = byte() }
    case 3: for _ in 0..<16 { bytes[place(in: bytes.count)] = byte() }
    case 4:
      let (from, to) = (place(in: pages) * page, place(in: pages) * page)
      let copy = bytes[from..<min(bytes.count, from + page)]
      bytes.replaceSubrange(to..<min(bytes.count, to + copy.count), with: copy.prefix(bytes.count - to))
    case 5:
      let start = place(in: pages) * page
      for index in start..<min(bytes.count, start + page) { bytes[index] = 0 }
    case 6:
      bytes = bytes.prefix(place(in: bytes.count))
      rest = Data()
    // The header, and the descriptions of the tables, are a small part of a file, and the one on which all depends.
    default: bytes[place(in: min(bytes.count, Int.random(in: 0..<2, using: &random) == 0 ? 100 : 4 * page))] = byte()
    }
    try (bytes + rest).write(to: URL(filePath: path))
  }

  private mutating func place(in count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
  private mutating func byte() -> UInt8 { UInt8.random(in: 0...255, using: &random) }
}
