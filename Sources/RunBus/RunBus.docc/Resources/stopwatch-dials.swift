// Both screens show the same time at the same moment.
try await onPhone.wait { $0.active() ?? .zero > .seconds(2) }
try await onWatch.wait { $0.phase == .running }
let now = Date()
print("both dials show \(onPhone.dial(at: now)):", onPhone.dial(at: now) == onWatch.dial(at: now))
