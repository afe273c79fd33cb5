import RunCore

/// Writes ledgers as people would tell them: seconds and words.
struct LedgerBuilder {
  private(set) var entries: [LedgerEntry] = []
  private var position: UInt64 = 0
  private let change = Change(
    source: .phone, deviceID: LedgerBuilder.device("phone"), commandID: CommandID(high: 0, low: 1))

  static func device(_ name: String) -> DeviceID {
    guard let name = DeviceID(name) else { preconditionFailure("not a device name: \(name)") }
    return name
  }
  static func time(_ seconds: Double) -> BusTime { .zero + BusDuration(seconds: seconds) }

  /// One degree of latitude is about this long at the place where the tests run.
  static let metersPerDegree = 111_229.0

  mutating func add(_ seconds: Double, _ event: LedgerEvent) {
    position += 1
    entries.append(LedgerEntry(time: Self.time(seconds), position: position, event: event))
  }
  mutating func press(_ kind: CommandKind, at seconds: Double) {
    add(seconds, kind == .lap ? .lap(change) : .transition(Transition(kind: kind, revision: 0, change: change)))
  }
  mutating func gap(at seconds: Double, lasting duration: Double) { add(seconds, .gap(BusDuration(seconds: duration))) }
  mutating func sample(_ value: SampleValue, at seconds: Double, from device: String = "phone") {
    add(seconds, .sample(value, Self.device(device)))
  }
  /// A fix so many metres north of the origin.
  mutating func fix(_ meters: Double, at seconds: Double, accuracy: Double? = 5, from device: String = "phone") {
    let position = Position(
      latitude: 50 + meters / Self.metersPerDegree, longitude: 8, horizontalAccuracyMeters: accuracy)
    sample(.position(position), at: seconds, from: device)
  }
  /// Fixes every second from one moment to another, both included, at a speed.
  mutating func run(from start: Int, through end: Int, at speed: Double = 3, accuracy: Double? = 5) {
    for second in start...end { fix(Double(second) * speed, at: Double(second), accuracy: accuracy) }
  }

  /// What the entries so far fold to.
  func metrics(at seconds: Double, settings: MetricsSettings = MetricsSettings()) -> RunMetrics {
    var calculator = Calculator(settings: settings)
    for entry in entries.sorted(by: LedgerEntry.precedes) { calculator.fold(entry) }
    return calculator.metrics(at: Self.time(seconds))
  }
}
