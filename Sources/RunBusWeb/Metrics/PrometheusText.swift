/// Values in the text format of Prometheus, version 0.0.4.
///
/// Source: https://prometheus.io/docs/instrumenting/exposition_formats/.
package struct PrometheusText {
  /// What a value is.
  package enum Kind: String { case counter, gauge, histogram }

  /// The text so far.
  package private(set) var text = ""
  private var lastName: String?

  /// No values.
  package init() {}

  /// Dimensions as they stand behind a name; empty without any.
  package static func labels(_ dimensions: [(String, String)]) -> String {
    dimensions.map { "\($0.0)=\"\(escaped($0.1))\"" }.joined(separator: ",")
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }

  /// Adds a value. Those of one name follow each other.
  package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ labels: String, _ value: Double) {
    describe(name, kind, help)
    line(name, labels, value)
  }

  /// Adds a value of the moment.
  package mutating func gauge(_ name: String, _ help: String, _ value: Double) {
    add(name, .gauge, help, "", value)
  }

  /// Adds a value of the moment with its dimensions.
  package mutating func gauge(_ name: String, _ help: String, _ dimensions: [(String, String)], _ value: Double) {
    add(name, .gauge, help, Self.labels(dimensions), value)
  }

  /// Adds a histogram of spans in seconds.
  mutating func add(_ name: String, _ help: String, _ labels: String, _ buckets: Buckets) {
    describe(name, .histogram, help)
    let before = labels.isEmpty ? "" : labels + ","
    var count: Int64 = 0
    for (bound, more) in zip(Buckets.bounds, buckets.counts) {
      count += more
      line(name + "_bucket", before + "le=\"\(Self.number(Double(bound) / 1e9))\"", Double(count))
    }
    count += buckets.counts.last ?? 0
    line(name + "_bucket", before + "le=\"+Inf\"", Double(count))
    line(name + "_sum", labels, Double(buckets.sum) / 1e9)
    line(name + "_count", labels, Double(count))
  }

  private mutating func describe(_ name: String, _ kind: Kind, _ help: String) {
    guard name != lastName else { return }
    lastName = name
    if !help.isEmpty { text += "# HELP \(name) \(help)\n" }
    text += "# TYPE \(name) \(kind.rawValue)\n"
  }

  private mutating func line(_ name: String, _ labels: String, _ value: Double) {
    text += labels.isEmpty ? "\(name) \(Self.number(value))\n" : "\(name){\(labels)} \(Self.number(value))\n"
  }

  private static func number(_ value: Double) -> String {
    guard value.isFinite else { return value.isNaN ? "NaN" : value > 0 ? "+Inf" : "-Inf" }
    return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }
}
