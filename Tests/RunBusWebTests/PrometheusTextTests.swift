import CoreMetrics
import RunBus
import Testing

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
