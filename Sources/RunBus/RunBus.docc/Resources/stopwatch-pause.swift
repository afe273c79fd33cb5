import Foundation
import RunBus
import RunBusUI

/// Runs a stopwatch on a phone and on its watch, in one process, and prints what the two screens show.
@main
@MainActor
struct Stopwatch {
  static func main() async throws {
    let link = Link()
    let loop = try Loop()
    let phone = Nodes.phone(over: link, on: loop)
    let watch = Nodes.watch(over: link, on: loop)
    let onPhone = Screen(name: "phone", model: RunModel(phone, source: .phone))
    let onWatch = Screen(name: "watch", model: RunModel(watch, source: .watch))

    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await phone.run() }
      group.addTask { try await watch.run() }
      group.addTask { await onPhone.model.run() }
      group.addTask { await onWatch.model.run() }
      try await press(onPhone, onWatch, link)
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  /// What the person does.
  static func press(_ onPhone: Screen, _ onWatch: Screen, _ link: Link) async throws {
    link.set(isUp: true)
    try await onWatch.wait { $0.isReachable }

    // The watch's button changes at once. A moment later the run is running on both screens.
    onWatch.model.press(.start)
    onWatch.show()
    try await onPhone.wait { $0.phase == .running && $0.predictedPhase == .running }
    onPhone.show()

    // Both screens show the same time at the same moment.
    try await onPhone.wait { $0.active() ?? .zero > .seconds(2) }
    try await onWatch.wait { $0.phase == .running }
    let now = Date()
    print("both dials show \(onPhone.dial(at: now)):", onPhone.dial(at: now) == onWatch.dial(at: now))

    // The watch is out of reach: its press waits, and counts from the moment at which it was made.
    link.set(isUp: false)
    onWatch.model.press(.pause)
    try await onWatch.wait { $0.presses.last?.stage == .queued }
    onWatch.show()
    link.set(isUp: true)
    try await onPhone.wait { $0.phase == .paused && $0.predictedPhase == .paused }
    onPhone.show()
  }
}
