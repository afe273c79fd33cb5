import Foundation
import RunCore

extension HubCore.Settings {
  /// How far this machine's clock is ahead of UTC at a moment, by its time zone.
  static let localOffset: @Sendable (Double) -> Int? = {
    TimeZone.current.secondsFromGMT(for: Date(timeIntervalSince1970: $0))
  }
}
