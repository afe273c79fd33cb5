import RunCore
import SystemC

/// A file that a writer changes after each commit: the change wakes the followers of the log.
///
/// It names the newest entry. A follower that reads it knows which entries were in the log at that moment; without it the
/// moment of an entry that came between the ringing and the read would be too early.
struct LogBell: Hashable, Sendable {
  /// An entry that is in the log.
  struct Note: Hashable, Sendable {
    let position: UInt64
    /// Distinguishes the entry from another one that has the position after an older copy of the log was put back.
    let time: LogTime
  }
  let path: String

  private typealias Words = (position: UInt64, time: UInt64, check: UInt64)
  private static let size = MemoryLayout<Words>.size

  /// Rings. A bell that cannot be rung delays followers until they look by themselves, and is no failure of an append.
  func ring(_ note: Note) {
    guard let descriptor = open() else { return }
    defer { close(descriptor) }
    let time = UInt64(bitPattern: note.time.nanoseconds)
    var words: Words = (note.position.littleEndian, time.littleEndian, (~(note.position ^ time)).littleEndian)
    withUnsafeBytes(of: &words) { _ = pwrite(descriptor, $0.baseAddress, Self.size, 0) }
  }

  /// Makes the file if it is not there, for those who watch it.
  func prepare() { if let descriptor = open() { close(descriptor) } }

  /// What was rung last; `nil` if there is nothing, or it is being written.
  func read() -> Note? {
    let descriptor = SystemC.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var words: Words = (0, 0, 0)
    let count = withUnsafeMutableBytes(of: &words) { pread(descriptor, $0.baseAddress, Self.size, 0) }
    let (position, time) = (UInt64(littleEndian: words.position), UInt64(littleEndian: words.time))
    guard count == Self.size, UInt64(littleEndian: words.check) == ~(position ^ time) else { return nil }
    return Note(position: position, time: LogTime(nanoseconds: Int64(bitPattern: time)))
  }

  private func open() -> CInt? {
    let descriptor = SystemC.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    return descriptor >= 0 ? descriptor : nil
  }
}

/// Which positions were rung when. Bounded: of too many moments the later ones stand for the earlier.
struct BellMarks: Sendable {
  private var marks: [(position: UInt64, moment: BusTime)] = []
  // More than entries that are appended within the time of a read.
  private static let countMax = 64

  /// An entry was known to be there.
  mutating func add(_ position: UInt64, at moment: BusTime) {
    guard position > marks.last?.position ?? 0 else { return }
    if marks.count == Self.countMax { marks.removeFirst() }
    marks.append((position, moment))
  }

  /// When it was known that the row at a position was there; `nil` if no bell was heard for it.
  func moment(of position: UInt64) -> BusTime? { marks.first { $0.position >= position }?.moment }

  /// Forgets all: positions of another log say nothing.
  mutating func removeAll() { marks = [] }
}
