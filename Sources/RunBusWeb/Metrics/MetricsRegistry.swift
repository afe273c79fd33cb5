package import CoreMetrics
import RunBus
import Synchronization

/// Keeps what a process counts and measures, and writes it as Prometheus reads it.
///
/// A program installs one before its first node begins, and serves it with ``MetricsServer``:
///
/// ```swift
/// let registry = MetricsRegistry.installed()
/// ```
package final class MetricsRegistry: MetricsFactory {
  /// One series: a name with its dimensions.
  private struct Key: Hashable, Comparable {
    let label: String
    let dimensions: String
    static func < (one: Key, other: Key) -> Bool {
      (one.label, one.dimensions) < (other.label, other.dimensions)
    }
  }
  /// What a series is kept by.
  private enum Series {
    case counter(CountingHandler)
    case value(ValueHandler)
    case histogram(HistogramHandler)
  }
  private let series = Mutex<[Key: Series]>([:])
  /// The most series: what a program makes beyond that is not kept.
  package static let seriesMax = 1000

  /// A registry without a series.
  package init() {}

  /// A registry that swift-metrics uses from now on, once in a process and before its first node.
  package static func installed() -> MetricsRegistry {
    let registry = MetricsRegistry()
    MetricsSystem.bootstrap(registry)
    return registry
  }

  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    let series = keep(label, dimensions) { .counter(CountingHandler()) }
    if case .counter(let handler) = series { return handler }
    return CountingHandler()
  }

  package func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    let series = keep(label, dimensions) { .value(ValueHandler()) }
    if case .value(let handler) = series { return handler }
    return ValueHandler()
  }

  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    let series = keep(label, dimensions) { .histogram(HistogramHandler()) }
    if case .histogram(let handler) = series { return handler }
    return HistogramHandler()
  }

  // A series lasts as long as the process: a counter that begins anew would look like a restart.
  package func destroyCounter(_ handler: any CounterHandler) {}
  package func destroyRecorder(_ handler: any RecorderHandler) {}
  package func destroyTimer(_ handler: any TimerHandler) {}

  /// The series of a name, which all its users share.
  private func keep(_ label: String, _ dimensions: [(String, String)], _ make: () -> Series) -> Series {
    let key = Key(label: label, dimensions: PrometheusText.labels(dimensions))
    return series.withLock { all in
      if let known = all[key] { return known }
      let new = make()
      if all.count < Self.seriesMax { all[key] = new }
      return new
    }
  }

  /// All series in the order of their names, in the text format of Prometheus, version 0.0.4.
  package func write(to text: inout PrometheusText) {
    let all = series.withLock { $0 }
    for (key, one) in all.sorted(by: { $0.key < $1.key }) {
      let name = key.label.replacing(".", with: "_")
      let help = MeterName(rawValue: key.label)?.help ?? ""
      switch one {
      case .counter(let handler):
        text.add(name + "_total", .counter, help, key.dimensions, Double(handler.value))
      case .value(let handler): text.add(name, .gauge, help, key.dimensions, handler.value)
      case .histogram(let handler): text.add(name + "_seconds", help, key.dimensions, handler.buckets)
      }
    }
  }
}

/// Counts up.
private final class CountingHandler: CounterHandler, Sendable {
  private let count = Atomic<Int64>(0)
  var value: Int64 { count.load(ordering: .relaxed) }
  func increment(by amount: Int64) { count.add(amount, ordering: .relaxed) }
  func reset() { count.store(0, ordering: .relaxed) }
}

/// Keeps the newest value.
private final class ValueHandler: RecorderHandler, Sendable {
  private let bits = Atomic<UInt64>(0)
  var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }
  func record(_ value: Int64) { record(Double(value)) }
  func record(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
}

/// Counts spans of time by how long they are.
private final class HistogramHandler: TimerHandler, Sendable {
  private let counts = Mutex(Buckets())
  var buckets: Buckets { counts.withLock { $0 } }
  func recordNanoseconds(_ duration: Int64) { counts.withLock { $0.add(nanoseconds: duration) } }
}

/// How many spans were at most so long.
struct Buckets: Sendable {
  /// The bounds in nanoseconds: from a fast disk to one that hangs.
  static let bounds: [Int64] = [
    250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000,
    500_000_000, 1_000_000_000, 5_000_000_000,
  ]
  /// How many are at most as long as each bound, and above the one before; then those above all of them.
  private(set) var counts = [Int64](repeating: 0, count: bounds.count + 1)
  /// All spans together, in nanoseconds.
  private(set) var sum: Int64 = 0

  mutating func add(nanoseconds: Int64) {
    counts[Self.bounds.firstIndex { nanoseconds <= $0 } ?? Self.bounds.count] += 1
    sum = sum.addingReportingOverflow(nanoseconds).partialValue
  }
}
