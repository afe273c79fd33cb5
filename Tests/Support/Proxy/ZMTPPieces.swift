/// Cuts a stream of ZMTP 3 into what a proxy hands on: the greeting's bytes as they come, since each side waits for the
/// other's, and whole frames.
struct ZMTPPieces {
  /// A stretch of the stream.
  enum Piece {
    /// Bytes of the greeting, from an offset on.
    case greeting([UInt8], offset: Int)
    case frame(Frame)
  }

  /// A frame with its head.
  struct Frame {
    var bytes: [UInt8]
    fileprivate(set) var bodyStart: Int

    private static let (more, long, command): (UInt8, UInt8, UInt8) = (1, 2, 4)

    /// The whole message or its last part; not a part before others, and nothing of the handshake.
    var isLastPart: Bool { bytes[0] & (Self.more | Self.command) == 0 }
    var body: ArraySlice<UInt8> { bytes[bodyStart...] }

    /// Announces more than 2^56 bytes: a short length is read as the first byte of a long one.
    mutating func spoilHeader() {
      if bytes[0] & Self.long == 0 { bytes[0] |= Self.long } else { bytes[1] = 0xff }
    }

    /// Of a wire type that protobuf does not have.
    mutating func spoilBody() { bytes[bodyStart] |= 7 }

    /// How long a frame is whose first bytes these are, and where its body starts; `nil` when that cannot be said yet.
    static func extent(_ bytes: ArraySlice<UInt8>) -> (bodyStart: Int, count: Int)? {
      guard let flags = bytes.first else { return nil }
      let lengthBytes = flags & long == 0 ? 1 : 8
      guard bytes.count > lengthBytes else { return nil }
      let length = bytes.dropFirst().prefix(lengthBytes).reduce(0) { $0 << 8 | Int($1) }
      return (1 + lengthBytes, 1 + lengthBytes + length)
    }
  }

  static let greetingBytes = 64
  private var greeted = 0
  private(set) var rest: [UInt8] = []

  /// What has become whole with these bytes.
  mutating func take(_ bytes: ArraySlice<UInt8>) -> [Piece] {
    var pieces: [Piece] = []
    let greeting = bytes.prefix(Self.greetingBytes - greeted)
    if !greeting.isEmpty { pieces.append(.greeting(Array(greeting), offset: greeted)) }
    greeted += greeting.count
    rest += bytes.dropFirst(greeting.count)
    var start = 0
    while let (bodyStart, count) = Frame.extent(rest[start...]), rest.count - start >= count {
      pieces.append(.frame(Frame(bytes: Array(rest[start..<start + count]), bodyStart: bodyStart)))
      start += count
    }
    rest.removeFirst(start)
    return pieces
  }
}
