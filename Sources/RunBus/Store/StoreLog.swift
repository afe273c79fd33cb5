import Foundation
import RunCore
import RunWire
import Synchronization
import SystemC

/// The files of the log that is in front of a store's tables: two segments of a fixed size, written in turn.
///
/// A commit is appended and synced. Once the tables have taken over everything in a segment, it is written from its
/// beginning, so that its blocks stay where they are and a sync writes nothing besides. The second segment is made when
/// the first one is full before the tables have followed.
///
/// ``append(_:position:)`` and ``prepare()`` are called by one thread at a time.
final class StoreLog: Sendable {
  /// Some 350 presses.
  static let segmentSize = 256 * 1024
  /// How long a full disk is left alone before the next try to make a segment.
  private static let tryEvery = BusDuration.seconds(10)
  /// A larger commit goes to the tables.
  static let commitSizeMax = 64 * 1024

  private struct Segment {
    var descriptor: CInt
    var identity: FileIdentity
    /// Where the next commit goes.
    var place: Int
    /// The position of its last commit.
    var last: UInt64
  }
  private struct State {
    var segments: [Segment] = []
    /// Which segment is written.
    var current = 0
    /// Up to where the tables have taken over.
    var drained: UInt64
    /// Before then no segment is made, because there was no room for one.
    var nextTry = BusTime.zero
    /// Whether a sync has failed. What the files hold then is not known, and they get no more commits.
    var hasFailed = false
  }
  private let form: LogSegment
  private let directory: String
  private let state: Mutex<State>

  /// The log of a store whose tables have taken over everything up to `drained`. No file is touched yet.
  init(in directory: String, key: [UInt8], drained: UInt64) {
    self.directory = directory
    form = LogSegment(key: key)
    state = Mutex(State(drained: drained))
  }

  deinit { for segment in state.withLock({ $0.segments }) { Foundation.close(segment.descriptor) } }

  /// The paths at which segments may be.
  static func paths(in directory: String) -> [String] { (0...1).map { "\(directory)/\(StoreFile.log)-\($0)" } }

  /// The key of a new store.
  static func newKey() -> [UInt8] { (0..<LogSegment.keySize).map { _ in UInt8.random(in: 0...255) } }

  /// Reads the segments in a directory.
  ///
  /// - Throws: ``RunBusError/Code/store`` for a file that cannot be read now. What it holds is not lost.
  static func segments(in directory: String) throws(RunBusError) -> [[UInt8]] {
    var segments: [[UInt8]] = []
    for path in paths(in: directory) {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard descriptor >= 0 else {
        if errno == ENOENT { continue }
        throw RunBusError(.store, "\(path) cannot be read: \(systemReason(errno))")
      }
      defer { Foundation.close(descriptor) }
      var bytes = [UInt8](repeating: 0, count: segmentSize)
      var count = 0
      while count < bytes.count {
        let read = bytes.withUnsafeMutableBytes {
          pread(descriptor, $0.baseAddress! + count, $0.count - count, off_t(count))
        }
        if read < 0, errno == EINTR { continue }
        if read < 0 { throw RunBusError(.store, "\(path) cannot be read: \(systemReason(errno))") }
        if read == 0 { break }
        count += read
      }
      segments.append(Array(bytes.prefix(count)))
    }
    return segments
  }

  /// Whether one of the segments has its full size.
  static func hasWhole(_ segments: [[UInt8]]) -> Bool { segments.contains { $0.count == segmentSize } }

  /// Makes the first segment if there is none. Returns whether the log can take commits.
  func prepare() -> Bool {
    let (count, hasFailed) = state.withLock { ($0.segments.count, $0.hasFailed) }
    if hasFailed { return false }
    return count > 0 || add()
  }

  /// The first file that is not at its path any more.
  var missingFile: FileIdentity? { state.withLock { $0.segments.first { !$0.identity.isInPlace }?.identity } }

  /// Appends a commit, durably. Returns `false` when there is no room for it, or the disk did not take it: the commit then
  /// goes to the tables, which take over its position.
  func append(_ commit: [UInt8], position: UInt64) -> Bool {
    guard commit.count <= Self.commitSizeMax, prepare() else { return false }
    let frame = form.frame(commit, position: position, drained: state.withLock { $0.drained })
    guard let (descriptor, place) = room(for: frame.count) else { return false }
    guard Self.write(frame, to: descriptor, at: place) else { return false }
    guard syncBytesToDisk(descriptor) == 0 else {
      state.withLock { $0.hasFailed = true }
      return false
    }
    state.withLock { state in
      state.segments[state.current].place = place + frame.count
      state.segments[state.current].last = position
    }
    return true
  }

  /// Whether the segment that is written is half full, so that the tables should take over.
  var isFilling: Bool {
    state.withLock { $0.segments.isEmpty ? false : $0.segments[$0.current].place > Self.segmentSize / 2 }
  }

  /// The tables have taken over everything up to a position.
  func drain(through position: UInt64) { state.withLock { $0.drained = max($0.drained, position) } }

  /// Closes the segments, after every other call.
  ///
  /// - Parameter removing: Whether to delete the files, because the tables have everything.
  func close(removing: Bool) {
    let segments = state.withLock { state in
      defer { state.segments = [] }
      return state.segments
    }
    for segment in segments { Foundation.close(segment.descriptor) }
    // Also those that a node which was killed has left, and this one has not used.
    if removing { for path in Self.paths(in: directory) { unlink(path) } }
  }

  /// Where the next frame goes; `nil` when both segments are full of what the tables have not taken over.
  private func room(for size: Int) -> (descriptor: CInt, place: Int)? {
    func find() -> (CInt, Int)? {
      state.withLock { state in
        for index in [state.current, 1 - state.current] where index < state.segments.count {
          if state.segments[index].last <= state.drained { state.segments[index].place = LogSegment.headerSize }
          let segment = state.segments[index]
          guard segment.place + size <= Self.segmentSize else { continue }
          state.current = index
          return (segment.descriptor, segment.place)
        }
        return nil
      }
    }
    if let found = find() { return found }
    return state.withLock({ $0.segments.count }) < 2 && add() ? find() : nil
  }

  /// Makes the next segment, or takes the file that a node has left: its blocks are written before the first commit.
  ///
  /// A file that was left stays when that fails: the tables may still count on a log that is there.
  private func add() -> Bool {
    guard state.withLock({ $0.nextTry }) <= Loop.now else { return false }
    let path = Self.paths(in: directory)[state.withLock { $0.segments.count }]
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    var descriptor = open(path, flags | O_CREAT | O_EXCL, 0o600)
    let isNew = descriptor >= 0
    if !isNew, errno == EEXIST { descriptor = open(path, flags) }
    guard descriptor >= 0 else { return wait() }
    let bytes = form.header + [UInt8](repeating: 0, count: Self.segmentSize - LogSegment.headerSize)
    guard Self.write(bytes, to: descriptor, at: 0), syncToDisk(descriptor) == 0, PrivateDirectory.sync(directory),
      let identity = FileIdentity(descriptor: descriptor, path: path)
    else {
      if isNew { unlink(path) }
      Foundation.close(descriptor)
      return wait()
    }
    state.withLock {
      $0.segments.append(
        Segment(descriptor: descriptor, identity: identity, place: LogSegment.headerSize, last: 0))
    }
    return true
  }

  private func wait() -> Bool {
    state.withLock { $0.nextTry = Loop.now + Self.tryEvery }
    return false
  }

  private static func write(_ bytes: [UInt8], to descriptor: CInt, at place: Int) -> Bool {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress! + written, $0.count - written, off_t(place + written))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      written += count
    }
    return true
  }
}
