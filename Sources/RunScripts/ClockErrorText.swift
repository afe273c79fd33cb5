package import RunBus

extension ClockError {
  /// Reads `1000.5,50000`: seconds ahead, and parts in 10^9 too fast; `nil` for anything else.
  package init?(text: String) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, let ahead = DurationText.parse(parts[0]), Self.aheadBounds.contains(ahead),
      let drift = Int64(parts[1]), Self.driftBounds.contains(drift)
    else { return nil }
    self.init(ahead: ahead, drift: drift)
  }

  /// The form that ``init(text:)`` reads.
  package var text: String { "\(DurationText.exactSeconds(ahead)),\(drift)" }
}

extension RunnersPlan {
  /// How wrong clocks of machines are at most: their time since the start, and 50 parts in a million.
  private static let (aheadSecondsMax, driftMax): (Int64, Int64) = (1_000_000, 50_000)

  /// Gives each phone a clock of its own, drawn from a seed. The log's clock stays that of the machine.
  package mutating func drawClocks(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for runner in runners {
      clockErrors[runner.bus] = ClockError(
        ahead: .seconds(.random(in: 0...Self.aheadSecondsMax, using: &random)),
        drift: .random(in: -Self.driftMax...Self.driftMax, using: &random))
    }
  }
}
