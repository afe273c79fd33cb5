import RunCore

/// Writes ledgers as people would tell them: seconds and words.
struct LedgerBuilder {
  private(set) var entries: [LedgerEntry] = []
  private var position: UInt64 = 0
  private let change = Author(
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

  /// A pedometer's reading every second from one moment to another, both included, at a speed of its own.
  mutating func step(from start: Int, through end: Int, at speed: Double = 3, zero: Double = 0) {
    for second in start...end { sample(.pedometer(meters: zero + Double(second) * speed), at: Double(second)) }
  }

  /// What the entries so far fold to, with their pieces.
  func report(at seconds: Double, settings: MetricsSettings = MetricsSettings()) -> RunReport {
    calculator(settings).report(at: Self.time(seconds))
  }
  /// What became of every fix.
  func route(settings: MetricsSettings = MetricsSettings()) -> [RoutePoint] {
    var calculator = Calculator(settings: settings)
    return entries.sorted(by: LedgerEntry.precedes).compactMap { calculator.fold($0) }
  }
  private func calculator(_ settings: MetricsSettings) -> Calculator {
    var calculator = Calculator(settings: settings)
    for entry in entries.sorted(by: LedgerEntry.precedes) { calculator.fold(entry) }
    return calculator
  }

  /// What the entries so far fold to.
  func metrics(at seconds: Double, settings: MetricsSettings = MetricsSettings()) -> RunMetrics {
    calculator(settings).metrics(at: Self.time(seconds))
  }
}
