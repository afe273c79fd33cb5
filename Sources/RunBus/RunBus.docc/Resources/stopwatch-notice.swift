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

  /// What the person has to know besides: presses that wait for the phone, and the last one that was refused.
  var notice: String? {
    if let waiting = model.pendingPresses.last { return "\(waiting.kind) waits for the phone" }
    return model.presses.last.flatMap { $0.isRefused ? $0.message : nil }
  }

  /// Prints the screen.
  func show() {
    print("\(name): \(model.predictedPhase), \(buttons.map(\.rawValue).joined(separator: "/"))")
    if let notice { print("\(name): \(notice)") }
  }
}
