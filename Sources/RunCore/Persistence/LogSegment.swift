/// The form of a segment: a file of the log that is in front of a store's tables.
///
/// A segment begins with a header, which has the key of its store. Behind it are the commits, one frame each, at places
/// that are multiples of eight. A segment is written from its beginning once the tables have taken over what it held, so
/// that older frames may follow the last one. Positions count the commits of a store and tell them apart.
///
/// A frame has a magic number, the length of its commit (four bytes each), its position, the position up to which the
/// tables had taken over when it was written (eight bytes each), a CRC-32C, and the commit. Numbers have their lowest byte
/// first. The checksum begins with the store's key, which no other node knows: what a message has in its body is never
/// taken for a frame.
package struct LogSegment: Sendable {
  /// How many bytes the key of a store has.
  package static let keySize = 16
  /// How many bytes are in front of the first frame.
  package static let headerSize = 32
  /// No store gets that many commits.
  package static let positionMax = UInt64(Int64.max)
  /// How many bytes a frame has in front of its commit.
  private static let frameHeaderSize = 32
  private static let magic: [UInt8] = Array("RBSEGM01".utf8)
  private static let frameMagic: UInt32 = 0x3143_4252

  /// The key of the store.
  package let key: [UInt8]
  private let seed: UInt32

  /// A segment of the store with a key.
  package init(key: [UInt8]) {
    self.key = key
    seed = CRC32C.sum(key)
  }

  /// A commit as it is in a segment.
  package struct Commit: Hashable, Sendable {
    /// Its place among the commits of the store, from 1 on.
    package let position: UInt64
    /// Up to where the tables had taken over when it was written.
    package let drained: UInt64
    /// Its form.
    package let bytes: [UInt8]
  }

  /// The beginning of a segment.
  package var header: [UInt8] {
    var bytes = Self.magic + key
    Self.put(CRC32C.sum(bytes), into: &bytes)
    bytes += [UInt8](repeating: 0, count: Self.headerSize - bytes.count)
    return bytes
  }

  /// The frame of a commit; its length is a multiple of eight.
  package func frame(_ commit: [UInt8], position: UInt64, drained: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.frameHeaderSize + commit.count + 7)
    Self.put(Self.frameMagic, into: &bytes)
    Self.put(UInt32(commit.count), into: &bytes)
    Self.put(position, into: &bytes)
    Self.put(drained, into: &bytes)
    let sum = bytes.withUnsafeBytes { CRC32C.sum(UnsafeRawBufferPointer(rebasing: $0[4...]), after: seed) }
    Self.put(commit.withUnsafeBytes { CRC32C.sum($0, after: sum) }, into: &bytes)
    Self.put(0 as UInt32, into: &bytes)
    bytes += commit
    while !bytes.count.isMultiple(of: 8) { bytes.append(0) }
    return bytes
  }

  /// Reads the header of a segment; `nil` when it is none.
  package init?(of bytes: [UInt8]) {
    guard bytes.count >= Self.headerSize, bytes.starts(with: Self.magic) else { return nil }
    let summed = Self.magic.count + Self.keySize
    guard CRC32C.sum(Array(bytes[..<summed])) == Self.number(bytes, summed, UInt32.self) else { return nil }
    self.init(key: Array(bytes[Self.magic.count..<summed]))
  }

  /// The commits that are whole, in the order of their places. What is between them is passed over: it is the end of a
  /// write that did not come through, or was damaged.
  package func commits(in bytes: [UInt8]) -> [Commit] {
    var found: [Commit] = []
    var place = Self.headerSize
    while place + Self.frameHeaderSize <= bytes.count {
      guard let commit = commit(in: bytes, at: place) else {
        place += 8
        continue
      }
      found.append(commit)
      place += (Self.frameHeaderSize + commit.bytes.count + 7) / 8 * 8
    }
    return found
  }

  private func commit(in bytes: [UInt8], at place: Int) -> Commit? {
    guard Self.number(bytes, place, UInt32.self) == Self.frameMagic else { return nil }
    let count = Int(Self.number(bytes, place + 4, UInt32.self))
    let (start, sum) = (place + Self.frameHeaderSize, Self.number(bytes, place + 24, UInt32.self))
    guard count <= bytes.count - start else { return nil }
    let isWhole = bytes.withUnsafeBytes { bytes in
      let before = CRC32C.sum(UnsafeRawBufferPointer(rebasing: bytes[place + 4..<place + 24]), after: seed)
      return CRC32C.sum(UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]), after: before) == sum
    }
    let position = Self.number(bytes, place + 8, UInt64.self)
    let drained = Self.number(bytes, place + 16, UInt64.self)
    // No node has written other numbers.
    guard isWhole, position <= Self.positionMax, drained < position else { return nil }
    return Commit(position: position, drained: drained, bytes: Array(bytes[start..<start + count]))
  }

  private static func put(_ number: some FixedWidthInteger, into bytes: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private static func number<Number: FixedWidthInteger>(_ bytes: [UInt8], _ place: Int, _: Number.Type) -> Number {
    bytes.withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: Number.self)) }
  }
}

/// What the log of a store holds that its tables have not taken over.
package struct LogTail: Sendable {
  /// The commits that follow the last one in the tables without a gap.
  package private(set) var commits: [LogSegment.Commit] = []
  /// Whole commits behind a gap: a commit before them is damaged or gone.
  package private(set) var behindGap: [LogSegment.Commit] = []
  /// How many segments of the store there are; one with a damaged header counts when it has a commit.
  package private(set) var segmentCount = 0

  /// - Parameters:
  ///   - segments: The bytes of all segments, in any order. What is no segment of the store is passed over.
  ///   - key: The key of the store; `nil` when the tables cannot tell it, and each segment is believed.
  ///   - drained: Up to where the tables have taken over; `nil` when they cannot tell, and the commits do.
  package init(of segments: [[UInt8]], key: [UInt8]?, drained: UInt64?) {
    var found: [LogSegment.Commit] = []
    for bytes in segments {
      if let segment = LogSegment(of: bytes) {
        guard key == nil || segment.key == key else { continue }
        found += segment.commits(in: bytes)
        segmentCount += 1
      } else if let key, key.count == LogSegment.keySize {
        // Its header is damaged. The checksums of its commits tell whose they are.
        let commits = LogSegment(key: key).commits(in: bytes)
        found += commits
        if !commits.isEmpty { segmentCount += 1 }
      }
    }
    let last = drained ?? found.map(\.drained).max() ?? 0
    var next = last + 1
    for commit in found.sorted(by: { $0.position < $1.position }) where commit.position > last {
      if commit.position == next {
        commits.append(commit)
        next += 1
      } else if commit.position > next {
        behindGap.append(commit)
      }
    }
  }
}
