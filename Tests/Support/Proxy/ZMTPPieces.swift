/// Splits a ZMTP 3 stream into pieces to forward: bytes of the greeting as they come, because each side waits for the
/// other's, and whole frames.
struct ZMTPPieces {
  /// A piece of the stream.
  enum Piece {
    /// Bytes of the greeting, from an offset on.
    case greeting([UInt8], offset: Int)
    case frame(Frame)
  }

  /// A frame with its header.
  struct Frame {
    var bytes: [UInt8]
    fileprivate(set) var bodyStart: Int

    private static let (more, long, command): (UInt8, UInt8, UInt8) = (1, 2, 4)

    /// Whether it is a whole message or its last part, and not a handshake command.
    var isLastPart: Bool { bytes[0] & (Self.more | Self.command) == 0 }
    var body: ArraySlice<UInt8> { bytes[bodyStart...] }

    /// Makes the frame announce more than 2^56 bytes: a short length is read as the first byte of a long one.
    mutating func spoilHeader() {
      if bytes[0] & Self.long == 0 { bytes[0] |= Self.long } else { bytes[1] = 0xff }
    }

    /// Gives the first field a wire type that protobuf does not have.
    mutating func spoilBody() { bytes[bodyStart] |= 7 }

    /// Body start and total length of the frame that begins with these bytes; `nil` if there are too few.
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

  /// Adds bytes and returns the pieces that are complete.
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
