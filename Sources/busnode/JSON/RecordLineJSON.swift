import RunBus

/// A line of `records ls --json`: the summary of a record, and of which other record it is likely a double, if of one.
struct RecordLineJSON: Encodable {
  let summary: RecordSummary
  let doubleOf: RunID?

  private enum CodingKeys: String, CodingKey { case doubleOf }

  func encode(to encoder: any Encoder) throws {
    try summary.encode(to: encoder)
    guard let doubleOf else { return }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(doubleOf.description, forKey: .doubleOf)
  }
}
