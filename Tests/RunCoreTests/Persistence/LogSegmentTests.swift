import Testing

@testable import RunCore

@Suite("A log's segment gives back whole commits, whatever happened to its bytes")
struct LogSegmentTests {
  private static let segment = LogSegment(key: Array(1...16))
  private static let commits: [[UInt8]] = [[1], Array(repeating: 7, count: 40), [], Array(0...200), [0x52, 0x42]]

  /// A segment with commits at the positions from `first` on, and where each of them ends; a frame may be a little longer.
  private static func bytes(from first: UInt64 = 1, _ commits: [[UInt8]] = commits) -> (bytes: [UInt8], ends: [Int]) {
    var bytes = segment.header
    var ends: [Int] = []
    for (index, commit) in commits.enumerated() {
      ends.append(bytes.count + 32 + commit.count)
      bytes += segment.frame(commit, position: first + UInt64(index), drained: first - 1)
    }
    return (bytes + [UInt8](repeating: 0, count: 64), ends)
  }

  private func tail(_ segments: [[UInt8]], drained: UInt64? = 0) -> LogTail {
    LogTail(of: segments, key: Self.segment.key, drained: drained)
  }

  @Test("Commits come back in order, without those that the tables have")
  func whole() {
    let bytes = Self.bytes().bytes
    #expect(tail([bytes]).commits.map(\.bytes) == Self.commits)
    #expect(tail([bytes], drained: 3).commits.map(\.position) == [4, 5])
    #expect(tail([bytes], drained: 9).commits.isEmpty)
    let second = Self.bytes(from: 6).bytes
    #expect(tail([second, bytes]).commits.map(\.position) == Array(1...10))
    #expect(tail([second, bytes], drained: nil).commits.map(\.position) == Array(6...10))
  }

  @Test("A write that was torn at any byte is cut off, and older frames behind it do not come back")
  func torn() {
    let (bytes, ends) = Self.bytes()
    let old = Self.bytes(from: 1, Array(repeating: [9, 9, 9], count: 30)).bytes
    let new = Self.bytes(from: 31).bytes
    for cut in bytes.indices {
      let count = ends.count { $0 <= cut }
      #expect(tail([Array(bytes[..<cut])]).commits.map(\.bytes) == Array(Self.commits.prefix(count)))
      #expect(tail([Array(bytes[..<cut])]).behindGap.isEmpty)
      // The segment is written again from its beginning.
      guard cut >= LogSegment.headerSize, cut < old.count else { continue }
      let again = tail([Array(new[..<cut] + old[cut...])], drained: 30)
      // What lay there may be as what was to be written.
      let found = again.commits.map(\.bytes)
      #expect(found.count >= count && Self.commits.starts(with: found) && again.behindGap.isEmpty)
    }
  }

  @Test("A commit of which any byte is changed is left out, and those behind it are told apart")
  func changed() {
    let (bytes, ends) = Self.bytes()
    for place in LogSegment.headerSize..<(ends.last ?? 0) {
      var changed = bytes
      changed[place] ^= 0x10
      let found = tail([changed])
      let index = ends.firstIndex { $0 > place } ?? 0
      let all = found.commits + found.behindGap
      // What fills a frame up to a multiple of eight is not read.
      if all.count == Self.commits.count { continue }
      #expect(found.commits.map(\.bytes) == Array(Self.commits.prefix(index)), "byte \(place)")
      #expect(found.behindGap.map(\.bytes) == Array(Self.commits.dropFirst(index + 1)), "byte \(place)")
    }
  }

  // Once broken: one changed bit in the header of a segment cost all of its commits, though their checksums begin with
  // the key of the store, which its tables know.
  @Test("A damaged header of a segment costs no commit, as long as the tables can tell the key")
  func headerChanged() {
    let bytes = Self.bytes().bytes
    for place in 0..<28 {
      var changed = bytes
      changed[place] ^= 1
      #expect(tail([changed]).commits.map(\.bytes) == Self.commits)
      #expect(LogTail(of: [changed], key: nil, drained: nil).segmentCount == 0)
      #expect(tail([Array(changed[..<LogSegment.headerSize])]).segmentCount == 0)
    }
  }

  @Test("What is written with another key is no commit, also inside of one that is damaged")
  func foreign() {
    let other = LogSegment(key: Array(repeating: 0, count: 16))
    let inner = other.frame([6, 6, 6], position: 2, drained: 0)
    var bytes = Self.segment.header + Self.segment.frame([0, 0, 0, 0] + inner, position: 1, drained: 0)
    bytes[LogSegment.headerSize] ^= 1
    #expect(tail([bytes]).commits.isEmpty && tail([bytes]).behindGap.isEmpty)
    let foreign = other.header + other.frame([1], position: 1, drained: 0)
    #expect(tail([foreign]).segmentCount == 0)
    #expect(LogTail(of: [foreign], key: nil, drained: nil).commits.count == 1)
  }

  // Once broken: the position after the last number crashed the node.
  @Test("Positions that no node has written are no commits and no crash")
  func positions() {
    let frames = [(UInt64.max, 0), (.max, .max - 1), (.max, .max), (5, .max), (0, 0), (3, 3)].flatMap {
      Self.segment.frame([1], position: $0, drained: $1)
    }
    let known: [(key: [UInt8]?, drained: UInt64?)] = [(Self.segment.key, 0), (Self.segment.key, nil), (nil, nil)]
    for (key, drained) in known {
      let found = LogTail(of: [Self.segment.header + frames], key: key, drained: drained)
      #expect(found.commits.isEmpty && found.behindGap.isEmpty && found.segmentCount == 1)
    }
  }

  @Test("Bytes by chance are no commits and no crash")
  func garbage() {
    var random = SeededGenerator(seed: 11)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(tail([bytes]).commits.isEmpty)
      #expect(Self.segment.commits(in: Self.segment.header + bytes).isEmpty)
    }
  }
}
