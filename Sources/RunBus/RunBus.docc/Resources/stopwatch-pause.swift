// The watch is out of reach: its press waits, and counts from the moment at which it was made.
link.set(isUp: false)
onWatch.model.press(.pause)
try await onWatch.wait { $0.presses.last?.stage == .queued }
onWatch.show()
link.set(isUp: true)
try await onPhone.wait { $0.phase == .paused && $0.predictedPhase == .paused }
onPhone.show()
