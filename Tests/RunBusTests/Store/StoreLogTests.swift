import Foundation
import RunCore
import RunWire
import Testing

@testable import RunBus

@Suite("Commits that only the log holds are as durable as those in the tables")
struct StoreLogTests {
  private static let run = RunID(high: 3, low: 3)
  private static let stream = StreamID(sender: StoreID(high: 1, low: 1), kind: .samples)

  private let scratch: ScratchDirectory

  init() throws { scratch = try ScratchDirectory() }

  /// A commit that the log takes: it moves a watermark to its number and appends an entry.
  private func operations(_ number: UInt64, body: Int = 0) -> [StoreOperation] {
    let change = Author(source: .phone, deviceID: DeviceID("phone"), commandID: CommandID(high: 0, low: number))
    let transition = Transition(kind: .pause, revision: number, change: change)
    let message = AppMessage(
      id: MessageID(high: 9, low: number), name: "gel", body: Array(repeating: 7, count: body))
    let receiver = OutboundStreamID(receiver: StoreID(high: 5, low: 5), kind: .messages)
    return [
      .setWatermark(Self.stream, StreamMark(sequence: number)),
      .append(
        Self.run,
        LedgerEntry(time: BusTime(nanoseconds: Int64(number)), position: number, event: .transition(transition))),
      .enqueue(OutboxRow(stream: receiver, sequence: number, item: .message(message), since: .zero)),
    ]
  }

  /// A store whose tables take over only when they are read.
  private func patientStore() throws -> NodeStore {
    try NodeStore(directory: scratch.path, device: nil, options: StoreOptions(batchSeconds: 3600))
  }

  /// A store whose tables have a first batch, which they get at once.
  private func begun() async throws -> NodeStore {
    let store = try patientStore()
    try await store.commit([.setTerm(1)])
    try await store.commit([.setClock(real: .zero, bus: .zero)])
    _ = try store.history()
    return store
  }

  /// A store whose log holds commits, as a power cut leaves it.
  private func killed(_ commits: UInt64 = 6, body: Int = 0) async throws -> (files: ScratchDirectory, id: StoreID) {
    let store = try await begun()
    for number in 1...commits { try await store.commit(operations(number, body: body)) }
    let copy = try ScratchDirectory()
    try copy.takeFiles(of: scratch)
    let id = store.storeID
    store.close()
    return (copy, id)
  }

  /// How many commits a store tells, whole and in order.
  private func count(_ history: HubHistory) -> UInt64 {
    let count = history.delivery.watermarks[Self.stream]?.sequence ?? 0
    #expect(history.journal.map(\.position) == (count == 0 ? [] : Array(1...count)))
    #expect(history.delivery.rows.map(\.sequence) == (count == 0 ? [] : Array(1...count)))
    return count
  }

  private func segment(_ files: ScratchDirectory, _ number: Int = 0) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: files.file("node.log-\(number)"))))
  }

  private func write(_ bytes: [UInt8], to files: ScratchDirectory, _ number: Int = 0) throws {
    try Data(bytes).write(to: URL(filePath: files.file("node.log-\(number)")))
  }

  @Test("Random batches come back from a store that was killed", arguments: 1...8)
  func random(seed: UInt64) async throws {
    let memory = NodeStore()
    let store = try NodeStore(directory: scratch.path)
    var generator = OperationGenerator(seed: seed)
    for _ in 0..<4 {
      for _ in 0..<40 {
        let batch = generator.batch().filter { operation in
          Codec.logged(LoggedCommit([operation], wallSeconds: 0, bootID: "")) != nil || generator.number(0...9) == 0
        }
        try await memory.commit(batch)
        try await store.commit(batch)
      }
      let copy = try ScratchDirectory()
      try copy.takeFiles(of: scratch)
      let again = try NodeStore(directory: copy.path)
      #expect(again.notices == [])
      #expect(ComparableHistory(try again.history()) == ComparableHistory(try memory.history()))
      #expect(ComparablePeerHistory(try again.peerHistory()) == ComparablePeerHistory(try memory.peerHistory()))
      again.close()
    }
    store.close()
    #expect(try scratch.names() == ["lock", "node.sqlite"])
  }

  @Test("What is superseded in a batch changes nothing of what a store holds", arguments: 1...40)
  func superseded(seed: UInt64) {
    var generator = OperationGenerator(seed: seed)
    let operations = (0..<60).flatMap { _ in generator.batch() }.filter { operation in
      Codec.logged(LoggedCommit([operation], wallSeconds: 0, bootID: "")) != nil || generator.number(0...19) == 0
    }
    var superseded = SupersededOperations()
    var (all, kept) = (StoredState(), StoredState())
    for operation in operations { all.apply(operation, bootID: "boot", wallSeconds: 1) }
    let remaining = operations.reversed().filter { superseded.keeps($0) }.reversed()
    for operation in remaining { kept.apply(operation, bootID: "boot", wallSeconds: 1) }
    #expect(ComparableHistory(all.hubHistory) == ComparableHistory(kept.hubHistory))
    #expect(ComparablePeerHistory(all.peerHistory) == ComparablePeerHistory(kept.peerHistory))
  }

  @Test("A press needs no table: the file and its write-ahead log stay as they are")
  func tablesRest() async throws {
    let store = try await begun()
    let before = try scratch.contents()
    for number in 1...20 { try await store.commit(operations(UInt64(number))) }
    let after = try scratch.contents()
    for name in ["node.sqlite", "node.sqlite-wal"] { #expect(before[name] == after[name], "\(name)") }
    #expect(count(try store.history()) == 20)
    store.close()
  }

  @Test("A log that was cut off at the end loses the last commit at most, and nothing is set aside")
  func torn() async throws {
    let (files, id) = try await killed()
    let bytes = try segment(files)
    let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
    var counts: Set<UInt64> = []
    for cut in stride(from: end, to: end - 150, by: -13) {
      let copy = try ScratchDirectory()
      try copy.takeFiles(of: files)
      try write(Array(bytes[..<cut]) + [UInt8](repeating: 0, count: bytes.count - cut), to: copy)
      let store = try NodeStore(directory: copy.path)
      #expect(store.notices == [] && store.storeID == id)
      counts.insert(count(try store.history()))
      store.close()
    }
    #expect(counts == [5, 6])
  }

  @Test("Damage to a commit in the log is told; the log is set aside, and what is whole is kept under a new id")
  func damaged() async throws {
    let (files, id) = try await killed()
    var bytes = try segment(files)
    bytes[LogSegment.headerSize + 600] ^= 1
    try write(bytes, to: files)
    guard case .unusable(let reason) = StoreHealth(of: DeviceID("phone"), in: files.path) else {
      return #expect(Bool(false), "a doctor calls it well")
    }
    #expect(reason.contains("a commit in its log is damaged or gone"))
    let store = try NodeStore(directory: files.path)
    #expect(store.notices.count == 1 && store.notices[0].contains("lost, in whole or in part: commits of its log"))
    #expect(store.storeID != id)
    let history = try store.history()
    #expect(history.journal.count == 5 && history.delivery.rows.count == 5)
    #expect(history.delivery.rows.map(\.sequence) == Array(1...5))
    store.close()
    #expect(Array(try Data(contentsOf: URL(filePath: files.file("damaged-1/node.log-0")))) == bytes)
  }

  @Test("A log that is gone, is another store's, or is newer than the tables by more than it holds is told")
  func gone() async throws {
    let (files, _) = try await killed()
    func told(_ what: String, _ change: (ScratchDirectory) throws -> Void) throws {
      let copy = try ScratchDirectory()
      try copy.takeFiles(of: files)
      try change(copy)
      let store = try NodeStore(directory: copy.path)
      #expect(store.notices.first?.contains(what) == true, "\(store.notices)")
      store.close()
    }
    try told("its log is gone") { try FileManager.default.removeItem(atPath: $0.file("node.log-0")) }
    // Once broken: the notice said that all rows could be read back.
    try told("lost, in whole or in part: commits of its log") { #expect(unlink($0.file("node.log-0")) == 0) }
    // Once broken: a file that was cut off behind a commit was taken for one into which no more was written.
    for size in [32, 33, 600, StoreLog.segmentSize - 1] {
      try told("its log was cut off") { #expect(truncate($0.file("node.log-0"), off_t(size)) == 0) }
    }
    let other = LogSegment(key: Array(repeating: 1, count: 16))
    try told("its log is gone") { try write(other.header + other.frame([], position: 1, drained: 0), to: $0) }
    try told("its file is gone") {
      try FileManager.default.removeItem(atPath: $0.file("node.sqlite"))
      try FileManager.default.removeItem(atPath: $0.file("node.sqlite-wal"))
    }
    let store = try patientStore()
    try await store.commit([.setTerm(2)])
    try await store.commit(operations(7))
    _ = try store.history()
    try await store.commit(operations(8))
    try told("a commit in its log is damaged or gone") { try write(segment(scratch), to: $0) }
    store.close()
  }

  @Test("What a damaged store's log holds is read back with its tables")
  func salvaged() async throws {
    let (files, _) = try await killed()
    let handle = try FileHandle(forWritingTo: URL(filePath: files.file("node.sqlite")))
    try handle.truncate(atOffset: 3 * 1024 + 100)
    try handle.close()
    let store = try NodeStore(directory: files.path)
    #expect(store.notices.first?.contains("was damaged") == true)
    let history = try store.history()
    #expect(history.journal.map(\.position) == Array(1...6))
    #expect(history.delivery.rows.map(\.sequence) == Array(1...6))
    store.close()
  }

  // Once broken: the notice said that all rows could be read back, though only those of the log could.
  @Test("Tables of which nothing can be read are told as lost when the log can be read")
  func tablesLost() async throws {
    let (files, _) = try await killed()
    try #require(truncate(files.file("node.sqlite"), 3 * 1024 + 100) == 0)
    let store = try NodeStore(directory: files.path)
    #expect(store.notices.first?.contains("lost, in whole or in part: its tables") == true, "\(store.notices)")
    #expect(try store.history().journal.map(\.position) == Array(1...6))
    store.close()
  }

  // Once broken: a log that this user may not read, or that the disk did not give, counted as one that is gone, and the
  // store was set aside without it.
  @Test("A log that cannot be read now ends the start, and nothing changes")
  func unreadable() async throws {
    let (files, _) = try await killed()
    #expect(unlink(files.file("node.log-0")) == 0 && mkdir(files.file("node.log-0"), 0o700) == 0)
    let error = #expect(throws: RunBusError.self) { try StoreLog.segments(in: files.path) }
    #expect(error?.message.contains("node.log-0 cannot be read: Is a directory") == true)
    #expect(throws: RunBusError.self) { try NodeStore(directory: files.path) }
    #expect(try !files.names().contains("damaged-1"))
  }

  @Test("More than both segments hold is in the tables in time")
  func full() async throws {
    let (files, _) = try await killed(60, body: 20_000)
    let store = try NodeStore(directory: files.path)
    #expect(store.notices == [])
    #expect(count(try store.history()) == 60)
    store.close()
  }

  @Test("Files that are copied one by one while a node writes are a store that starts", arguments: 1...6)
  func copied(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let store = try patientStore()
    try await store.commit([.setTerm(1)])
    let copy = try ScratchDirectory()
    var number: UInt64 = 0
    for _ in 0..<3 {
      number += 1
      try await store.commit(operations(number))
    }
    // What the tables have before the copying is in each copy.
    _ = try store.history()
    let least = number
    for name in ["node.log-0", "node.sqlite", "node.sqlite-wal"].shuffled(using: &random) {
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        number += 1
        try await store.commit(operations(number))
        if Bool.random(using: &random) { _ = try store.history() }
      }
      try FileManager.default.copyItem(atPath: scratch.file(name), toPath: copy.file(name))
    }
    store.close()
    let again = try NodeStore(directory: copy.path)
    let history = try again.history()
    let rows = history.delivery.rows.map(\.sequence)
    #expect(rows == Array(rows.indices).map { UInt64($0) + 1 } && rows.count >= least && rows.count <= number)
    try await again.commit([.setTerm(5)])
    again.close()
  }

  @Test("A commit of a later version is refused, and nothing changes")
  func later() async throws {
    let (files, _) = try await killed()
    var bytes = try segment(files)
    let form = try #require(LogSegment(of: bytes))
    // An operation of the kind 99.
    let last = try #require(form.commits(in: bytes).last)
    let frame = form.frame([0x0A, 0x02, 0x08, 99], position: last.position + 1, drained: last.drained)
    let end = (bytes.lastIndex { $0 != 0 } ?? 0) / 8 * 8 + 8
    bytes.replaceSubrange(end..<end + frame.count, with: frame)
    try write(bytes, to: files)
    let before = try files.contents()
    let error = #expect(throws: RunBusError.self) { try NodeStore(directory: files.path) }
    #expect(error?.code == .storeMismatch && error?.message.contains("a commit of a newer RunBus") == true)
    var after = try files.contents()
    after["lock"] = nil
    #expect(after == before)
  }

  @Test("What is no file in the place of the log is refused", arguments: [true, false])
  func obstructed(isPipe: Bool) async throws {
    let (files, _) = try await killed()
    let place = files.file("node.log-1")
    if isPipe { #expect(mkfifo(place, 0o600) == 0) } else { #expect(mkdir(place, 0o700) == 0) }
    let error = #expect(throws: RunBusError.self) { try NodeStore(directory: files.path) }
    #expect(error?.message.contains("\(place) is not a file: move it away") == true)
  }
}
