public import Foundation
public import RunCore

/// An event of the bus with the time of day at which this program heard of it: a line of `busnode monitor --json`.
///
/// ```swift
/// let encoder = JSONEncoder()
/// for await event in watch.events() {
///   log.append(try encoder.encode(DatedEvent(event)))
/// }
/// ```
public struct DatedEvent: Hashable, Sendable {
  /// When this program heard of the event, by the wall clock of its machine, in whole milliseconds. For display only:
  /// wall clocks of two machines differ.
  public let at: Date
  /// The event.
  public var event: BusEvent

  /// An event that is heard now, or at a given time, which is rounded to milliseconds.
  public init(_ event: BusEvent, at: Date = Date()) {
    self.at = Date(timeIntervalSince1970: (at.timeIntervalSince1970 * 1000).rounded() / 1000)
    self.event = event
  }
}

extension DatedEvent: Codable {
  private enum CodingKeys: String, CodingKey { case at }

  /// Reads an event that ``encode(to:)`` or `busnode` has written.
  ///
  /// - Throws: `DecodingError`, also for an event that this version does not know.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let text: String = try container.need(.at)
    guard let seconds = DayTime.unixSeconds(text) else { throw container.flaw(.at, "not a time of day: \(text)") }
    self.init(try BusEvent(from: decoder), at: Date(timeIntervalSince1970: seconds))
  }

  /// Writes the event in the form that `docs/json.md` in the repository of the package describes, with `at` beside its
  /// keys.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(DayTime.text(unixSeconds: at.timeIntervalSince1970), .at)
    try event.encode(to: encoder)
  }
}
