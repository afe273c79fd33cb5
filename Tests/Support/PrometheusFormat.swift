/// Reads the text format of Prometheus, version 0.0.4, more strictly than Prometheus itself.
///
/// Source: https://prometheus.io/docs/instrumenting/exposition_formats/.
package struct PrometheusFormat {
  private var faults: [String] = []
  private var helped: Set<Substring> = []
  private var kinds: [Substring: Substring] = [:]
  private var series: Set<Substring> = []
  /// The metric whose lines stand together here, and those before.
  private var present: Substring?
  private var over: Set<Substring> = []
  /// The last bucket of each histogram: its bound, and how much it and those before have.
  private var buckets: [Substring: (bound: Double, count: Double)] = [:]

  /// What is wrong in a text; empty when it is right.
  package static func faults(in text: String) -> [String] {
    var reader = Self()
    if !text.hasSuffix("\n") { reader.faults.append("the last line has no end") }
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() { reader.read(line) }
    for (name, bucket) in reader.buckets where bucket.bound != .infinity {
      reader.faults.append("\(name) has no bucket for everything")
    }
    return reader.faults
  }

  private mutating func read(_ line: Substring) {
    if let help = line.wholeMatch(of: /# HELP ([a-zA-Z_:][\w:]*) ((?:[^\\]|\\\\|\\n)+)/) {
      begin(help.output.1, line)
      if !helped.insert(help.output.1).inserted { faults.append("twice: \(line)") }
      if kinds[help.output.1] != nil { faults.append("behind its kind: \(line)") }
    } else if let type = line.wholeMatch(of: /# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary|untyped)/) {
      begin(type.output.1, line)
      if kinds.updateValue(type.output.2, forKey: type.output.1) != nil { faults.append("twice: \(line)") }
    } else if let sample = line.wholeMatch(of: /([a-zA-Z_:][\w:]*)(?:\{(.+)\})? (\S+)/) {
      read(sample.output.1, sample.output.2 ?? "", sample.output.3, line)
    } else {
      faults.append("no line of this format: \(line)")
    }
  }

  /// All lines of one metric stand together.
  private mutating func begin(_ name: Substring, _ line: Substring) {
    guard name != present else { return }
    if let present { over.insert(present) }
    present = name
    if over.contains(name) { faults.append("apart from the others of its name: \(line)") }
  }

  private mutating func read(_ name: Substring, _ labels: Substring, _ value: Substring, _ line: Substring) {
    let metric = family(of: name)
    begin(metric, line)
    guard let kind = kinds[metric] else { return faults.append("before its kind: \(line)") }
    guard let number = Self.number(value) else { return faults.append("no number: \(line)") }
    var names: Set<Substring> = []
    var bound: Double?
    var rest = labels
    while let label = rest.prefixMatch(of: /([a-zA-Z_]\w*)="((?:[^"\\]|\\\\|\\"|\\n)*)"(?:,|$)/) {
      if !names.insert(label.output.1).inserted { faults.append("a label twice: \(line)") }
      if label.output.1 == "le" { bound = Self.number(label.output.2) }
      rest = rest[label.range.upperBound...]
    }
    if !rest.isEmpty { faults.append("no labels: \(line)") }
    if !series.insert(line.dropLast(value.count)).inserted { faults.append("twice: \(line)") }
    if kind == "counter", !name.hasSuffix("_total") || number < 0 { faults.append("no counter: \(line)") }
    if kind == "histogram" { check(metric, name, bound, number, line) }
  }

  /// The metric to which a series belongs: a histogram has several names.
  private func family(of name: Substring) -> Substring {
    for end in ["_bucket", "_sum", "_count"] where name.hasSuffix(end) {
      if kinds[name.dropLast(end.count)] == "histogram" { return name.dropLast(end.count) }
    }
    return name
  }

  private mutating func check(
    _ metric: Substring, _ name: Substring, _ bound: Double?, _ count: Double, _ line: Substring
  ) {
    if name.hasSuffix("_count"), buckets[metric]?.count != count { faults.append("not what its buckets have: \(line)") }
    guard name.hasSuffix("_bucket") else { return }
    guard let bound else { return faults.append("a bucket without a bound: \(line)") }
    if let last = buckets[metric], last.bound >= bound || last.count > count {
      faults.append("less than the bucket before: \(line)")
    }
    buckets[metric] = (bound, count)
  }

  private static func number(_ text: Substring) -> Double? {
    switch text {
    case "+Inf": .infinity
    case "-Inf": -.infinity
    case "NaN": .nan
    default: text.wholeMatch(of: /-?[0-9.]+(?:e[+-]?[0-9]+)?/) == nil ? nil : Double(text)
    }
  }
}
