import CoreMetrics
import RunBus
import Testing
import TestSupport

@testable import RunBusWeb

@Suite("Metrics as Prometheus reads them")
struct PrometheusTextTests {
  @Test("Counters and histograms have the format of version 0.0.4, in the order of their names")
  func format() {
    let registry = MetricsRegistry()
    registry.makeCounter(label: "runbus.verdicts", dimensions: [("outcome", "coalesced")]).increment(by: 2)
    registry.makeCounter(label: "runbus.verdicts", dimensions: [("outcome", "applied")]).increment(by: 1)
    registry.makeCounter(label: "app.presses", dimensions: []).increment(by: 3)
    let timer = registry.makeTimer(label: "runbus.commit", dimensions: [])
    for span: Int64 in [200_000, 250_000, 3_000_000, 9_000_000_000] { timer.recordNanoseconds(span) }
    var text = PrometheusText()
    registry.write(to: &text)
    let lines = text.text.split(separator: "\n").map(String.init)
    #expect(lines.prefix(2) == ["# TYPE app_presses_total counter", "app_presses_total 3"])
    #expect(
      lines.suffix(4) == [
        "# HELP runbus_verdicts_total Verdicts of the hub on presses, by what they say.",
        "# TYPE runbus_verdicts_total counter", "runbus_verdicts_total{outcome=\"applied\"} 1",
        "runbus_verdicts_total{outcome=\"coalesced\"} 2",
      ])
    #expect(lines.contains("runbus_commit_seconds_bucket{le=\"0.00025\"} 2"))
    #expect(lines.contains("runbus_commit_seconds_bucket{le=\"0.005\"} 3"))
    #expect(lines.contains("runbus_commit_seconds_bucket{le=\"+Inf\"} 4"))
    #expect(lines.contains("runbus_commit_seconds_sum 9.00345") && lines.contains("runbus_commit_seconds_count 4"))
  }

  @Test("A device's name cannot end its quotes or its line")
  func escapes() {
    #expect(PrometheusText.labels([("device", "a\"b\\c\nd")]) == "device=\"a\\\"b\\\\c\\nd\"")
  }

  @Test("Whatever is counted and whatever it is called, the text keeps the rules of the format")
  func rules() {
    let registry = MetricsRegistry()
    for name in MeterName.allCases {
      if name == .commits {
        let timer = Timer(label: name.rawValue, factory: registry)
        for span: Int64 in [1, 3_000_000, .max] { timer.recordNanoseconds(span) }
      } else {
        for word in ["", "a\"b", "c\\d\ne", "한국어"] {
          Counter(label: name.rawValue, dimensions: [("word", word), ("more", "")], factory: registry).increment()
        }
        Counter(label: name.rawValue, factory: registry).increment(by: Int64.max)
      }
    }
    Recorder(label: "app.level", factory: registry).record(Double.infinity)
    Recorder(label: "app.depth", factory: registry).record(-1e-9)
    var text = PrometheusText()
    text.gauge("first", "Before all of them.", [("device", "}\" 1\n")], .nan)
    registry.write(to: &text)
    #expect(PrometheusFormat.faults(in: text.text) == [])
    #expect(text.text.split(separator: "\n").count > 4 * MeterName.allCases.count)
  }

  @Test(
    "What breaks a rule of the format is found",
    arguments: [
      "a_total 1", "# TYPE a counter\na 1", "# TYPE a_total counter\na_total -1", "# TYPE a gauge\na 1\na 2",
      "# TYPE a gauge\n# TYPE a gauge\na 1", "# TYPE a gauge\n# HELP a What it is.\na 1", "# TYPE a level",
      "# HELP a One.\n# HELP a Two.\n# TYPE a gauge\na 1", "# TYPE a gauge\na one", "# TYPE a.b gauge",
      "# TYPE a gauge\na{b=\"c\"d\"} 1", "# TYPE a gauge\na{b=\"\\c\"} 1", "# TYPE a gauge\na{b=\"c\",b=\"d\"} 1",
      "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\na{c=\"d\"} 1", "# TYPE a gauge\na{1b=\"c\"} 1", "# TYPE a gauge\na  1",
      "# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1",
      "# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1",
      "# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 2",
    ])
  func wrong(text: String) {
    #expect(PrometheusFormat.faults(in: text + "\n").count == 1, "\(PrometheusFormat.faults(in: text + "\n"))")
    #expect(PrometheusFormat.faults(in: "# TYPE a gauge\na 1") == ["the last line has no end"])
  }

  @Test("One name has one series, however many count with it, and there are only so many")
  func bounded() {
    let registry = MetricsRegistry()
    for _ in 0..<2 { registry.makeCounter(label: "a", dimensions: []).increment(by: 1) }
    for number in 0..<2 * MetricsRegistry.seriesMax {
      registry.makeCounter(label: "b", dimensions: [("n", "\(number)")]).increment(by: 1)
    }
    var text = PrometheusText()
    registry.write(to: &text)
    let lines = text.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(lines.first == "a_total 2" && lines.count == MetricsRegistry.seriesMax)
  }
}
