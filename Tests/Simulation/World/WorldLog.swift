import RunCore

/// The log of a simulated store, byte by byte, and the tables behind it. A crash tears the write that is under way at any
/// byte; the next start has what the tables have and the log gives back.
struct WorldLog {
  private struct Commit {
    var operations: [StoreOperation]
    var bootID: String
    var wallSeconds: Double
  }
  private static let form = LogSegment(key: Array(repeating: 7, count: LogSegment.keySize))
  private static let size = 4096

  private var tables = StoredState()
  /// The commits that the tables lack, the oldest first.
  private var waiting: [Commit] = []
  private var drained: UInt64 = 0
  private var bytes = form.header + [UInt8](repeating: 0, count: size)
  private var place = LogSegment.headerSize
  private var isAsWritten = true

  private var next: UInt64 { drained + UInt64(waiting.count) + 1 }

  /// The commit at a position, as bytes of a length that differs from one to the next: what it does is kept beside.
  private static func filler(_ position: UInt64) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: position), count: Int(position * 2_654_435_761 % 97))
  }

  private func frame(_ position: UInt64) -> [UInt8] {
    Self.form.frame(Self.filler(position), position: position, drained: drained)
  }

  private mutating func put(_ written: ArraySlice<UInt8>) {
    bytes.replaceSubrange(place..<place + written.count, with: written)
  }

  /// Writes a commit durably.
  mutating func append(_ operations: [StoreOperation], bootID: String, wallSeconds: Double) {
    if place + 256 > bytes.count { takeOver() }
    let frame = frame(next)
    put(frame[...])
    place += frame.count
    waiting.append(Commit(operations: operations, bootID: bootID, wallSeconds: wallSeconds))
    // The tables take over as they do for a record or a read.
    if next.isMultiple(of: 11) { takeOver() }
  }

  private mutating func takeOver() {
    apply()
    place = LogSegment.headerSize
  }

  /// The tables get the batch without what its later operations make useless.
  private mutating func apply() {
    var superseded = SupersededOperations()
    var kept: [(operation: StoreOperation, commit: Commit)] = []
    for commit in waiting.reversed() {
      for operation in commit.operations.reversed() where superseded.keeps(operation) {
        kept.append((operation, commit))
      }
    }
    for (operation, commit) in kept.reversed() {
      tables.apply(operation, bootID: commit.bootID, wallSeconds: commit.wallSeconds)
    }
    drained += UInt64(waiting.count)
    waiting = []
  }

  /// A crash meets the write of the next commit. Returns whether its start finds that commit.
  ///
  /// - Parameter part: How much of the write came through, from 0 to 1.
  mutating func tear(at part: Double) -> Bool {
    if place + 256 > bytes.count { takeOver() }
    let frame = frame(next)
    put(frame.prefix(Int(Double(frame.count + 1) * part)))
    let found = tail.commits
    isAsWritten = isAsWritten && found.allSatisfy { $0.bytes == Self.filler($0.position) }
    return found.last?.position == next
  }

  private var tail: LogTail { LogTail(of: [bytes], key: Self.form.key, drained: drained) }

  /// What the next start reads; with a fault when it is not what was durable.
  mutating func restart() -> (state: StoredState, fault: String?) {
    let tail = tail
    let found = tail.commits.count
    let isWhole = isAsWritten && found == waiting.count && tail.behindGap.isEmpty
    apply()
    place = LogSegment.headerSize
    return (tables, isWhole ? nil : "the log gives back \(found) commits, or others than were written")
  }
}
