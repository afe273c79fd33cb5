import Foundation
import Observation
import RunBus
import RunBusUI

/// The stopwatch's screen on one device, as text.
@MainActor
struct Screen {
  let name: String
  let model: RunModel

  /// The time on the dial: time in which the run was running.
  func dial(at date: Date) -> String {
    RunFormat(locale: Locale(identifier: "en_GB")).duration(model.active(at: date))
  }

  /// The buttons that make sense now, whether or not the phone has answered the last one.
  var buttons: [CommandKind] {
    CommandKind.allCases.filter { model.allows($0) }
  }
}
