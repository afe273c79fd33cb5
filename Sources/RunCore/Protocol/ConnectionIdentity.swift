/// Who is at the other end of a connection, as the hub's transport knows it. Frames cannot state an identity.
///
/// The identity decides which device names the other end may use:
///
/// | identity | joins as | sends a single command in the name of |
/// |---|---|---|
/// | ``localOwner`` | any device but the hub's own | any device |
/// | ``link(_:)`` | the linked device only | the linked device, its own names, free names |
/// | ``key(_:)`` | its device, visitors with free names | its device, free names |
/// | ``candidate(_:)`` | none | none |
/// | ``anyone`` | free names | free names |
///
/// Who joins as a device sends its commands, readings and messages. A name belongs to the identity that joined with it
/// last. It is free when no identity has used it, or when ``anyone`` used it last. The hub's own name belongs to
/// ``localOwner``. The name of a paired device belongs to its key alone: no process of the hub's own machine may use it.
///
/// Every identity may press buttons, and see the run, its route, its records and the list of devices: the identity only
/// limits in whose name it acts. What the hub holds for the devices (outbox, quarantine) is not shown to ``anyone``.
public enum ConnectionIdentity: Hashable, Sendable {
  /// A process of the user who runs the hub. It has reached a socket in a directory that only this user can open, or it
  /// is the hub's own process.
  case localOwner
  /// The holder of a key that a listener for paired devices has let in.
  case key(KeyFingerprint)
  /// The holder of a key that has connected to be paired. It may send a pairing request and nothing else.
  case candidate(KeyFingerprint)
  /// A device that the operating system vouches for, such as the watch that is paired with this phone.
  case link(DeviceID)
  /// Not known: TCP without keys.
  case anyone

  /// Whether this identity may say hello as a device, and so send commands, readings and messages as that device.
  ///
  /// - Parameters:
  ///   - device: the device that the frame names.
  ///   - user: the identity that last said hello as this device; `nil` if none has. The hub's own device belongs to the
  ///     local owner.
  package func mayJoin(as device: DeviceID, of user: ConnectionIdentity?) -> Bool {
    switch self {
    case .localOwner: true
    case .key, .anyone: isFree(user)
    case .link(let own): own == device
    case .candidate: false
    }
  }

  /// Whether this identity may bring a single command of a device, for example from a spool.
  ///
  /// - Parameters:
  ///   - device: the device of the command.
  ///   - user: as in ``mayJoin(as:of:)``.
  package func mayPress(as device: DeviceID, of user: ConnectionIdentity?) -> Bool {
    if case .candidate = self { return false }
    return mayJoin(as: device, of: user) || isFree(user)
  }

  /// Whether a device's name is this identity's own or nobody's. What an unknown sender has used is nobody's.
  private func isFree(_ user: ConnectionIdentity?) -> Bool { user == nil || user == self || user == .anyone }

  /// Whether this identity may go on with the streams of a store.
  ///
  /// - Parameter owner: the identity that first said hello with the store; `nil` if none has.
  package func mayUse(storeOf owner: ConnectionIdentity?) -> Bool { owner == nil || owner == self }

  /// Whether the hub tells this identity what it holds for the devices: its outbox and its quarantine.
  package var mayAskForHoldings: Bool { self != .anyone }
}

/// A public key as it is named: its 32 bytes.
public struct KeyFingerprint: Hashable, Sendable {
  /// How many bytes a key has.
  public static let byteCount = 32
  /// The bytes.
  public let bytes: [UInt8]

  /// A key from its bytes; `nil` unless there are 32.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }
}

extension KeyFingerprint {
  /// The points of Curve25519 and its twist whose order is 1, 2, 4 or 8, little-endian: 0, 1, the two of order 8, p - 1, and
  /// p and p + 1, which are 0 and 1 again. With any of them as a public key, X25519 gives the same shared secret, all
  /// zeros, whatever the secret key is. (RFC 7748, section 6.1; https://cr.yp.to/ecdh.html#validate; libsodium refuses
  /// the same seven, in `crypto_scalarmult/curve25519`.)
  private static let smallOrder: Set<[UInt8]> = [
    [UInt8](repeating: 0, count: 32),
    [1] + [UInt8](repeating: 0, count: 31),
    [
      0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
      0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
    ],
    [
      0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b,
      0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57,
    ],
    [0xec] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
    [0xed] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
    [0xee] + [UInt8](repeating: 0xff, count: 30) + [0x7f],
  ]

  /// Whether every shared secret with this key is zeros, so that it proves no identity. X25519 ignores the highest bit,
  /// and so does this.
  package var isOfSmallOrder: Bool {
    Self.smallOrder.contains(bytes.dropLast() + [bytes[Self.byteCount - 1] & 0x7f])
  }
}

extension KeyFingerprint: LosslessStringConvertible, Comparable {
  /// 64 hexadecimal digits.
  public var description: String {
    bytes.reduce(into: "") { text, byte in
      if byte < 16 { text += "0" }
      text += String(byte, radix: 16)
    }
  }

  /// Reads a ``description``.
  public init?(_ description: String) {
    let digits = Array(description.utf8)
    guard digits.count == 2 * Self.byteCount else { return nil }
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { place -> UInt8? in
      guard let high = Self.value(ofDigit: digits[place]), let low = Self.value(ofDigit: digits[place + 1]) else {
        return nil
      }
      return high << 4 | low
    }
    self.init(bytes)
  }

  /// Orders keys by their bytes.
  public static func < (left: Self, right: Self) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }

  private static func value(ofDigit digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

extension ConnectionIdentity: CustomStringConvertible, LosslessStringConvertible {
  /// The identity as one word: `localOwner`, `anyone`, `link:watch`, or `key:` or `candidate:` and 64 hexadecimal digits.
  public var description: String {
    switch self {
    case .localOwner: "localOwner"
    case .anyone: "anyone"
    case .link(let device): "link:\(device)"
    case .key(let key): "key:\(key)"
    case .candidate(let key): "candidate:\(key)"
    }
  }

  /// Reads a ``description``.
  public init?(_ description: String) {
    switch description {
    case "localOwner": self = .localOwner
    case "anyone": self = .anyone
    default:
      let parts = description.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2 else { return nil }
      switch parts[0] {
      case "link":
        guard let device = DeviceID(parts[1]) else { return nil }
        self = .link(device)
      case "key", "candidate":
        guard let key = KeyFingerprint(parts[1]) else { return nil }
        self = parts[0] == "key" ? .key(key) : .candidate(key)
      default: return nil
      }
    }
  }
}
