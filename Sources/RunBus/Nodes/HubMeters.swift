import CoreMetrics
import RunCore

/// Counts what a hub does. Without a backend of swift-metrics it costs a few calls that do nothing.
struct HubMeters {
  private let joins = Counter(.joins)
  private var verdicts: [String: Counter] = [:]
  private var transitions: [String: Counter] = [:]
  private var refusals: [String: Counter] = [:]
  private var phase: RunPhase?

  /// Counts an action that the core has just returned.
  mutating func note(_ action: HubCore.Action) {
    switch action {
    case .publish(.receipt(let receipt, _)):
      guard case .verdict(let verdict) = receipt.stage else { return }
      Self.count(verdict.outcome.summary, in: &verdicts, .verdicts, "outcome")
    case .publish(.presence(let presence)): if presence.isReachable { joins.increment() }
    case .show(let snapshot):
      guard snapshot.phase != phase else { return }
      // The phase with which the hub begins is none that it has changed.
      if phase != nil { Self.count(snapshot.phase.rawValue, in: &transitions, .transitions, "phase") }
      phase = snapshot.phase
    case .send(let frame, _):
      guard case .refused(let refusal) = frame.message else { return }
      Self.count(refusal.code.rawValue, in: &refusals, .refusals, "code")
    default: break
    }
  }

  private static func count(
    _ word: String, in counters: inout [String: Counter], _ name: MeterName, _ dimension: String
  ) {
    if let counter = counters[word] { return counter.increment() }
    let counter = Counter(name, [(dimension, word)])
    counter.increment()
    counters[word] = counter
  }
}
