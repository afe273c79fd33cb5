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
