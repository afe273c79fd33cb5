import Foundation
import RunCore

/// The state as `busnode widget --json` writes it, which is also what ActivityKit keeps of it.
extension LiveActivityState: Codable {
  private enum CodingKeys: String, CodingKey {
    case term, revision, tick, clockZeroUnixSeconds, clockRate, startsAtUnixSeconds, stale, hubLost, staleAtUnixSeconds,
      relevance, final, push, pushKind, pushedAtUnixSeconds, budgetLeft, activity
  }

  /// Reads a state that ``encode(to:)`` or `busnode` has written. Words of a later version read as `unknown`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func date(_ key: CodingKeys) throws -> Date? {
      let seconds: Double? = try container.read(key)
      return seconds.map { Date(timeIntervalSince1970: $0) }
    }
    order = SnapshotOrder(
      term: try container.need(.term), revision: try container.need(.revision), tick: try container.need(.tick))
    content = try LiveContent(from: decoder)
    clockZero = try date(.clockZeroUnixSeconds)
    clockRate = try container.need(.clockRate)
    startDate = try date(.startsAtUnixSeconds)
    isStale = try container.need(.stale)
    isHubLost = try container.need(.hubLost)
    staleDate = try date(.staleAtUnixSeconds)
    relevance = try container.need(.relevance)
    isFinal = try container.need(.final)
    push = try container.need(.push)
    pushKind = try container.word(.pushKind, unknown: .unknown)
    pushedAt = try date(.pushedAtUnixSeconds) ?? Date(timeIntervalSince1970: 0)
    budgetLeft = try container.need(.budgetLeft)
    activity = try container.need(.activity)
  }

  /// Writes the state in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try content.encode(to: encoder)
    try container.write(order.term, .term)
    try container.write(order.revision, .revision)
    try container.write(order.tick, .tick)
    try container.write(clockZero?.timeIntervalSince1970, .clockZeroUnixSeconds)
    try container.write(clockRate, .clockRate)
    try container.write(startDate?.timeIntervalSince1970, .startsAtUnixSeconds)
    try container.write(isStale, .stale)
    try container.write(isHubLost, .hubLost)
    try container.write(staleDate?.timeIntervalSince1970, .staleAtUnixSeconds)
    try container.write(relevance, .relevance)
    try container.write(isFinal, .final)
    try container.write(push, .push)
    try container.write(pushKind.rawValue, .pushKind)
    try container.write(pushedAt.timeIntervalSince1970, .pushedAtUnixSeconds)
    try container.write(budgetLeft, .budgetLeft)
    try container.write(activity, .activity)
  }
}
