/// Checks of the points and scalars in Ed25519 keys and signatures (RFC 8032, section 5.1), the same on every system.
///
/// CryptoKit has no such checks, and what those of libsodium take has changed with its versions. Keys and signatures
/// are public, so nothing here has to take the same time for all values.
enum Edwards25519 {
  /// The order of the base point, lowest word first: 2^252 + 27742317777372353535851937790883648493.
  private static let order: [UInt64] = [0x5812_631A_5CF5_D3ED, 0x14DE_F9DE_A2F7_9CD6, 0, 0x1000_0000_0000_0000]

  /// Whether these are the 32 bytes of a scalar below the order.
  static func isScalar(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.count == 32 else { return false }
    for (word, bound) in zip(words(bytes), order).reversed() where word != bound { return word < bound }
    return false
  }

  /// Whether these are the 32 bytes of a point of prime order in its only encoding.
  static func isOfPrimeOrder(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.count == 32, let point = Point(bytes), !point.isNeutral else { return false }
    // The highest bit of the order is the first one here.
    var multiple = point
    for place in (0..<252).reversed() {
      multiple = multiple.doubled
      if order[place / 64] >> (place % 64) & 1 == 1 { multiple = multiple + point }
    }
    return multiple.isNeutral
  }

  /// The four words of 32 bytes, lowest first.
  private static func words(_ bytes: ArraySlice<UInt8>) -> [UInt64] {
    (0..<4).map { word in
      (0..<8).reduce(0) { $0 | UInt64(bytes[bytes.startIndex + 8 * word + $1]) << (8 * $1) }
    }
  }

  /// A point with extended coordinates: x = X/Z, y = Y/Z, xy = T/Z.
  private struct Point {
    private var x, y, z, t: Element

    private init(x: Element, y: Element, z: Element, t: Element) { (self.x, self.y, self.z, self.t) = (x, y, z, t) }

    /// Decodes a point; `nil` for bytes that are none, or not its only encoding.
    init?(_ bytes: ArraySlice<UInt8>) {
      let words = words(bytes)
      let isOdd = words[3] >> 63 == 1
      guard let y = Element(words[0], words[1], words[2], words[3] & (1 << 63 - 1)) else { return nil }
      // x² = u/v; a candidate for x is u·v³·(u·v⁷)^((p − 5)/8).
      let square = y * y
      let (u, v) = (square - .one, Element.d * square + .one)
      let v3 = v * v * v
      var x = u * v3 * (u * v3 * v3 * v).toThePowerOfAnEighth
      let check = v * x * x
      if !(check - u).isZero {
        guard (check + u).isZero else { return nil }
        x = x * .rootOfMinusOne
      }
      if x.isOdd != isOdd {
        guard !x.isZero else { return nil }
        x = .zero - x
      }
      self.init(x: x, y: y, z: .one, t: x * y)
    }

    var isNeutral: Bool { x.isZero && (y - z).isZero }

    /// The sum, by a formula that holds for all points of this curve (Hisil and others, "Twisted Edwards Curves
    /// Revisited", section 3.1).
    static func + (left: Point, right: Point) -> Point {
      let a = (left.y - left.x) * (right.y - right.x)
      let b = (left.y + left.x) * (right.y + right.x)
      let c = left.t * right.t * .twoD
      let d = (left.z + left.z) * right.z
      return Point(e: b - a, f: d - c, g: d + c, h: b + a)
    }

    /// The double (section 3.3 there).
    var doubled: Point {
      let (a, b, c) = (x * x, y * y, z * z)
      let h = a + b
      let g = a - b
      return Point(e: h - (x + y) * (x + y), f: c + c + g, g: g, h: h)
    }

    private init(e: Element, f: Element, g: Element, h: Element) {
      self.init(x: e * f, y: g * h, z: f * g, t: e * h)
    }
  }

  /// A number modulo 2^255 − 19, as five words of 51 bits and a little more.
  private struct Element {
    private static let mask: UInt64 = (1 << 51) - 1
    private var limbs: (UInt64, UInt64, UInt64, UInt64, UInt64)

    static let zero = Element(limbs: (0, 0, 0, 0, 0))
    static let one = Element(limbs: (1, 0, 0, 0, 0))
    /// The curve's constant, −121665/121666.
    static let d = Element(
      limbs: (0x34DC_A135_978A3, 0x1A82_83B1_56EBD, 0x5E7A_2600_1C029, 0x739C_663A_03CBB, 0x5203_6CEE_2B6FF))
    static let twoD = d + d
    static let rootOfMinusOne = Element(
      limbs: (0x61B2_74A0_EA0B0, 0x0D5A_5FC8_F189D, 0x7EF5_E9CB_D0C60, 0x7859_5A680_4C9E, 0x2B83_2480_4FC1D))

    private init(limbs: (UInt64, UInt64, UInt64, UInt64, UInt64)) { self.limbs = limbs }

    /// A number below 2^255 from its words, lowest first; `nil` if it is not below the modulus.
    init?(_ word0: UInt64, _ word1: UInt64, _ word2: UInt64, _ word3: UInt64) {
      let isBelow = word3 != UInt64.max >> 1 || word2 != .max || word1 != .max || word0 < UInt64.max - 18
      guard isBelow else { return nil }
      limbs = (
        word0 & Self.mask, (word0 >> 51 | word1 << 13) & Self.mask, (word1 >> 38 | word2 << 26) & Self.mask,
        (word2 >> 25 | word3 << 39) & Self.mask, word3 >> 12
      )
    }

    /// The same number with limbs of 51 bits, the lowest of which may have one more.
    private var carried: Element {
      var (a, b, c, d, e) = limbs
      b += a >> 51
      c += b >> 51
      d += c >> 51
      e += d >> 51
      a = (a & Self.mask) + 19 * (e >> 51)
      return Element(limbs: (a, b & Self.mask, c & Self.mask, d & Self.mask, e & Self.mask))
    }

    static func + (left: Element, right: Element) -> Element {
      let (a, b) = (left.limbs, right.limbs)
      return Element(limbs: (a.0 + b.0, a.1 + b.1, a.2 + b.2, a.3 + b.3, a.4 + b.4)).carried
    }

    static func - (left: Element, right: Element) -> Element {
      // Four times the modulus is added, so that no limb falls below zero.
      let (a, b) = (left.limbs, right.limbs)
      let (low, high): (UInt64, UInt64) = (4 * (mask - 18), 4 * mask)
      return Element(
        limbs: (a.0 + low - b.0, a.1 + high - b.1, a.2 + high - b.2, a.3 + high - b.3, a.4 + high - b.4)
      ).carried
    }

    static func * (left: Element, right: Element) -> Element {
      func times(_ a: UInt64, _ b: UInt64) -> UInt128 {
        let (high, low) = a.multipliedFullWidth(by: b)
        return UInt128(high) << 64 | UInt128(low)
      }
      let (a, b) = (left.limbs, right.limbs)
      // 2^255 is 19: what is beyond the fifth limb comes back to the lowest ones.
      let (b1, b2, b3, b4) = (19 * b.1, 19 * b.2, 19 * b.3, 19 * b.4)
      let r0 = times(a.0, b.0) + times(a.1, b4) + times(a.2, b3) + times(a.3, b2) + times(a.4, b1)
      var r1 = times(a.0, b.1) + times(a.1, b.0) + times(a.2, b4) + times(a.3, b3) + times(a.4, b2)
      var r2 = times(a.0, b.2) + times(a.1, b.1) + times(a.2, b.0) + times(a.3, b4) + times(a.4, b3)
      var r3 = times(a.0, b.3) + times(a.1, b.2) + times(a.2, b.1) + times(a.3, b.0) + times(a.4, b4)
      var r4 = times(a.0, b.4) + times(a.1, b.3) + times(a.2, b.2) + times(a.3, b.1) + times(a.4, b.0)
      r1 += r0 >> 51
      r2 += r1 >> 51
      r3 += r2 >> 51
      r4 += r3 >> 51
      func low(_ value: UInt128) -> UInt64 { UInt64(truncatingIfNeeded: value) & mask }
      // The limbs of a product are below 2^109, so the last carry is below 2^60.
      let first = UInt128(low(r0)) + 19 * (r4 >> 51)
      return Element(
        limbs: (low(first), low(r1) + UInt64(truncatingIfNeeded: first >> 51), low(r2), low(r3), low(r4)))
    }

    /// The number to the power of (p − 5)/8 = 2^252 − 3.
    var toThePowerOfAnEighth: Element {
      // All bits of the exponent but the second lowest are set.
      var power = self
      for place in (0..<251).reversed() {
        power = power * power
        if place != 1 { power = power * self }
      }
      return power
    }

    /// The number below the modulus.
    private var reduced: Element {
      var value = carried.carried
      // At most one modulus too much: adding 19 carries beyond 2^255 then.
      var (a, b, c, d, e) = value.limbs
      let isTooMuch =
        a >= Self.mask - 18 && b == Self.mask && c == Self.mask && d == Self.mask && e == Self.mask
      if isTooMuch { (a, b, c, d, e) = (a - (Self.mask - 18), 0, 0, 0, 0) }
      value.limbs = (a, b, c, d, e)
      return value
    }

    var isZero: Bool {
      let value = reduced.limbs
      return value.0 | value.1 | value.2 | value.3 | value.4 == 0
    }
    var isOdd: Bool { reduced.limbs.0 & 1 == 1 }
  }
}
