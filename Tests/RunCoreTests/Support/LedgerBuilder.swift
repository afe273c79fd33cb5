import RunCore

/// Builds ledgers from seconds and short calls.
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

  /// The approximate length of a degree of latitude where the tests run.
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
  /// A position this many metres north of the origin.
  mutating func fix(_ meters: Double, at seconds: Double, accuracy: Double? = 5, from device: String = "phone") {
    let position = Position(
      latitude: 50 + meters / Self.metersPerDegree, longitude: 8, horizontalAccuracyMeters: accuracy)
    sample(.position(position), at: seconds, from: device)
  }
  /// A position every second, both ends included, at a speed in metres per second.
  mutating func run(from start: Int, through end: Int, at speed: Double = 3, accuracy: Double? = 5) {
    for second in start...end { fix(Double(second) * speed, at: Double(second), accuracy: accuracy) }
  }

  /// A pedometer reading every second, both ends included, at a speed of its own.
  mutating func step(from start: Int, through end: Int, at speed: Double = 3, zero: Double = 0) {
    for second in start...end { sample(.pedometer(meters: zero + Double(second) * speed), at: Double(second)) }
  }

  /// The report of the entries so far.
  func report(at seconds: Double, settings: MetricsSettings = MetricsSettings()) -> RunReport {
    calculator(settings).report(at: Self.time(seconds))
  }
  /// The verdict on every fix.
  func route(settings: MetricsSettings = MetricsSettings()) -> [RoutePoint] {
    var calculator = Calculator(settings: settings)
    return entries.sorted(by: LedgerEntry.precedes).compactMap { calculator.fold($0) }
  }
  private func calculator(_ settings: MetricsSettings) -> Calculator {
    var calculator = Calculator(settings: settings)
    for entry in entries.sorted(by: LedgerEntry.precedes) { calculator.fold(entry) }
    return calculator
  }

  /// The metrics of the entries so far.
  func metrics(at seconds: Double, settings: MetricsSettings = MetricsSettings()) -> RunMetrics {
    calculator(settings).metrics(at: Self.time(seconds))
  }
}
