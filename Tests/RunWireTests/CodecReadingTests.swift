import RunCore
import Testing

@testable import RunWire

@Suite("Entries of a journal are read from the store's memory as from bytes")
struct CodecReadingTests {
  private static let phone = DeviceID("phone")

  private func both(_ sealed: [UInt8]) -> (
    fast: Result<Codec.StoredEntry, StoredError>, slow: Result<Codec.StoredEntry, StoredError>
  ) {
    let device: (UInt32) -> DeviceID? = { $0 < 3 ? Self.phone : nil }
    func result(_ read: () throws(StoredError) -> Codec.StoredEntry) -> Result<Codec.StoredEntry, StoredError> {
      do throws(StoredError) { return .success(try read()) } catch { return .failure(error) }
    }
    return (
      result { () throws(StoredError) in
        // A typed throw does not pass through the closure of an array.
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: sealed.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: sealed)
        return try Codec.entry(UnsafeRawBufferPointer(copy), device: device)
      },
      result { () throws(StoredError) in try Codec.entry(sealed, device: device) }
    )
  }

  private static let events: [LedgerEvent] = [
    .sample(.position(Position(latitude: 50.5, longitude: -8.25, horizontalAccuracyMeters: 4)), phone),
    .sample(.position(Position(latitude: 0, longitude: 0, horizontalAccuracyMeters: nil)), phone),
    .sample(.altitude(meters: 112.5, .barometer), phone), .sample(.altitude(meters: 0, .unstated), phone),
    .sample(.heartRate(bpm: 142.5), phone), .sample(.cadence(stepsPerMinute: 0), phone),
    .sample(.pedometer(meters: -0.5), phone), .sample(.motion(.running), phone), .sample(.motion(.unknown), phone),
    .gap(.seconds(2)), .setup(RunSetup(weightKilograms: 70.5)),
  ]

  @Test("Every kind of entry at every kind of time", arguments: events)
  func kinds(event: LedgerEvent) throws {
    for nanoseconds in [0, 1, 300, -1, 1 << 40, 1 << 62, -(1 << 62)] as [Int64] {
      let time = BusTime(nanoseconds: nanoseconds)
      let (fast, slow) = both(Codec.stored(event, at: time, device: 2))
      #expect(fast == slow && fast == .success(Codec.StoredEntry(time: time, event: event)))
    }
  }

  @Test("Whatever bytes there are, both readers say the same")
  func garbage() {
    var generator = SeededGenerator(seed: 5)
    var whole = Codec.stored(Self.events[0], at: BusTime(nanoseconds: 1 << 40), device: 1)
    whole.removeLast(4)
    for _ in 0..<20_000 {
      let event = Self.events.randomElement(using: &generator)!
      var bytes = Codec.stored(
        event, at: BusTime(nanoseconds: .random(in: -9...9, using: &generator)),
        device: .random(in: 0...4, using: &generator))
      bytes.removeLast(4)
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        switch Int.random(in: 0..<5, using: &generator) {
        case 0 where !bytes.isEmpty:
          bytes[.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
        case 1 where !bytes.isEmpty: bytes.removeLast(.random(in: 1...bytes.count, using: &generator))
        case 2: bytes += whole.suffix(.random(in: 0...whole.count, using: &generator))
        case 3: bytes += bytes
        default:
          let tag = UInt8.random(in: 0...110, using: &generator)
          bytes.insert(contentsOf: [tag, 0x80, 0x01], at: Int.random(in: 0...bytes.count, using: &generator))
        }
      }
      let (fast, slow) = both(Codec.seal(bytes))
      // A number that is none equals nothing.
      #expect(String(reflecting: fast) == String(reflecting: slow), "\(bytes)")
    }
    #expect(both([1, 2, 3]).fast == .failure(.damaged))
    #expect(both(whole + [0, 0, 0, 0]).fast == .failure(.damaged))
  }
}
